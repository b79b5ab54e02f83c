// Privileges of a process, given up for good: user, groups, capabilities.
#pragma once

#include "base/result.h"

#include <string>

namespace millrace::sandbox {

inline constexpr unsigned kNobody = 65534;

// Root becomes nobody; anybody else stays who they are. Capabilities and their bounding set are
// emptied in either case. Clears PR_SET_PDEATHSIG, as the kernel does whenever the user changes.
Result<void> drop_privileges();

// Root, and there is a nobody to become: not so in a user namespace with one user in it.
bool can_become_nobody();

// "becomes user 65534" or "stays user 1000".
std::string describe_user();

}  // namespace millrace::sandbox
