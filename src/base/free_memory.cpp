#include "base/free_memory.h"

#include <features.h>  // __GLIBC__

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace millrace {

void return_free_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace millrace
