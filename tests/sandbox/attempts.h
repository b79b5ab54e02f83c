// Attempts: what the tasks of jail_probe try. An attempt is asked for by name and returns what came
// of it: the name of an errno, or "allowed". Many do not return.
#pragma once

#include "sandbox/task_server.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace millrace::test {

// `argument` is what followed the name in the request: a path, or a number.
struct Attempt {
  sandbox::TaskChannel& channel;
  std::string argument;
};
using Attempts = std::map<std::string, std::function<std::string(Attempt)>>;

inline std::string outcome(long answer) {
  return answer < 0 ? ::strerrorname_np(errno) : "allowed";
}

void add_calls(Attempts& attempts);   // Network, processes, privileges, memory.
void add_files(Attempts& attempts);   // Paths and descriptors.
void add_limits(Attempts& attempts);  // Too much, too long, and lies in the pipe.

}  // namespace millrace::test
