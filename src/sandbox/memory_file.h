// make_memory_file: bytes as a file that nobody can change, to hand to a child. At its start.
#pragma once

#include "base/result.h"
#include "sandbox/unique_fd.h"

#include <string_view>

namespace millrace::sandbox {

Result<UniqueFd> make_memory_file(const char* name, std::string_view data);

}  // namespace millrace::sandbox
