// The system calls of a confined child, as a seccomp program.
//
// One table decides: calls that compute, allocate, and read what is open are allowed; calls that
// libraries try and can live without get an errno; every other call traps, and the handler of the
// child names it to the parent and exits (task_child.cpp). The program is built once, by
// libseccomp, and copied into each child, which writes its own pid where the placeholder is: a
// child may signal itself, and so abort(), but nobody else.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <string>
#include <vector>

namespace millrace::sandbox {

inline constexpr std::uint32_t kPidPlaceholder = 0x7A11D0C5;

// unavailable, with the reason, when this kernel has no seccomp filters.
Result<std::vector<sock_filter>> build_syscall_filter();

std::size_t allowed_call_count();

// Puts the filter on this process, for good; `filter` is changed. Async-signal-safe. 0 or an errno.
int apply_syscall_filter(std::vector<sock_filter>& filter) noexcept;

std::string syscall_name(std::uint32_t number);

}  // namespace millrace::sandbox
