// every_nth: runs an operation once for every allocation in it, with that one failing, until a run
// passes without a failure.
#pragma once

#include "failnth/allocations.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>

namespace millrace::test {

// `operation` may throw std::bad_alloc and nothing else; afterwards no memory may be lost. Returns
// how many allocations it makes.
template <class Operation>
std::size_t every_nth(Operation operation) {
  operation();  // What is made once and kept, such as tables in functions, is made here.
  for (std::size_t nth = 1;; ++nth) {
    const auto before = allocations_live();
    bool thrown = false;
    fail_allocation(nth);
    try {
      operation();
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    const bool failed = stop_failing();
    EXPECT_EQ(allocations_live(), before) << "allocation " << nth << " failed";
    if (!failed) {
      EXPECT_FALSE(thrown);
      return nth - 1;
    }
    if (::testing::Test::HasFailure()) return nth;
  }
}

}  // namespace millrace::test
