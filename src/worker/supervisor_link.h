// SupervisorLink: a worker process's end of the line to its supervisor.
//
// Made early in main() from the value of --child, which the supervisor adds to the command line. It
// asks the kernel for SIGTERM should the supervisor die, so that the process drains and does not
// stay behind. Threading: registered() from one thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::worker {

class SupervisorLink {
 public:
  // `value` is "descriptor:supervisor's pid".
  static Result<SupervisorLink> open(std::string_view value);

  // Tells the supervisor under which id this process now holds leases.
  void registered(std::string_view worker_id) const;

 private:
  explicit SupervisorLink(int fd) : fd_(fd) {}
  int fd_;  // Stays open as long as the process lives.
};

}  // namespace millrace::worker
