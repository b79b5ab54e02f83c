// How long a process stood in line for a processor while it could have run.
//
// A task gives way to everything else (kTaskNice), so on a machine that is busy with other work its
// wall clock runs while it does not. What it waited for that way is not its fault, and is added to
// the time it has, within bounds.
#pragma once

#include <chrono>

namespace millrace::sandbox {

// Of the process that the pidfd names; zero where the kernel does not tell, or it is gone.
std::chrono::milliseconds run_delay(int pidfd);

// What a task may take in all that has waited so long: `wall`, and up to four times as much again
// for what it stood in line.
std::chrono::milliseconds wall_with_delay(std::chrono::milliseconds wall,
                                          std::chrono::milliseconds delay);

}  // namespace millrace::sandbox
