// find_executable: which file a program name means, or why it cannot be run.
//
// The rules are execvp's, with errors for people: every message names the file. What it finds may
// be gone when it is executed; Process reports that as well.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::sandbox {

inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

struct ExecutableSearch {
  std::string program;  // With a slash: a path. Without: a name to look up in `path`.
  std::string cwd;  // What a relative program or path entry is relative to; empty: the parent's.
  std::string path{kDefaultPath};  // Folders separated by colons.
};

// An absolute path; not_found when there is no such file, invalid_argument when it is there but
// cannot be run.
Result<std::string> find_executable(const ExecutableSearch& search);

}  // namespace millrace::sandbox
