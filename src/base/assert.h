// MR_ASSERT: invariants that hold in release builds too. Leases make a crash safe; a wrong write is
// not.
#pragma once

namespace millrace {

// Prints "file:line: invariant failed: condition" to stderr and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace millrace

#define MR_ASSERT(condition)                           \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::millrace::assertion_failed(#condition, __FILE__, __LINE__))
