// must: the value of a Result, or the test fails with the error's text.
#pragma once

#include "base/result.h"

#include <stdexcept>
#include <utility>

namespace millrace::test {

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(std::string(to_string(result.error().kind)) + ": " +
                             result.error().describe());
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace millrace::test
