// Landlock: a list of paths that may be read; every other use of the file system is refused, and
// TCP and signals to the outside as well where the kernel knows how.
#pragma once

#include "base/result.h"
#include "sandbox/unique_fd.h"

#include <string>
#include <vector>

namespace millrace::sandbox {

struct LandlockRules {
  UniqueFd ruleset;
  int abi = 0;
};

// Paths that do not exist are skipped. unavailable, with the reason, without Landlock.
Result<LandlockRules> build_landlock(const std::vector<std::string>& read_paths);

// For good. Needs no_new_privs. Async-signal-safe. 0 or an errno.
int apply_landlock(const UniqueFd& ruleset) noexcept;

}  // namespace millrace::sandbox
