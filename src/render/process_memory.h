// memory_of_tree: what a process and all below it use, in bytes.
//
// Memory of their own is summed; what they share (libraries, buffers between them) is counted once,
// as the largest share of one of them, because the sum of resident sizes would count it six times.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace millrace::render {

std::uint64_t memory_of_tree(pid_t leader);  // 0 when it is gone.

}  // namespace millrace::render
