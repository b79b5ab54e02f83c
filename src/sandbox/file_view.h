// hide_files: leaves this process and its children no file but those below some paths.
//
// Landlock refuses to open what is not listed, but lets everybody see what there is: names, sizes,
// times. In a mount namespace of its own a process can have a root with nothing else in it. An
// addition, where the kernel allows: /proc, which a child needs before it is confined, is kept as a
// descriptor. Threading: for processes with one thread, after share_nothing().
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace millrace::sandbox {

// Read-only copies of the paths under the same names; those that do not exist are skipped. An error
// leaves everything as it was.
Result<void> hide_files(const std::vector<std::string>& read_paths);

}  // namespace millrace::sandbox
