#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace millrace {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: invariant failed: %s\n", file, line, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace millrace
