// Allocations that fail on command: the Nth one after arming throws std::bad_alloc.
//
// allocations.cpp replaces operator new for the whole test program. Only the thread that armed the
// trap counts; everything else allocates as usual. Live allocations are counted too, so that what
// was lost on the way of an exception shows.
#pragma once

#include <cstddef>

namespace millrace::test {

void fail_allocation(std::size_t nth);  // From now on, counted from 1.
// Ends the counting; true when an allocation has failed.
bool stop_failing();
std::size_t allocations_counted();  // Since the trap was armed.

// Allocations of this thread that were made and not given back, while counting.
std::ptrdiff_t allocations_live();

// What happens here is somebody else's memory, such as the database's.
class Untouched {
 public:
  Untouched();
  ~Untouched();
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;

 private:
  bool was_counting_;
};

}  // namespace millrace::test
