// SignalWaiter: SIGINT and SIGTERM as values, for commands that run until told to stop.
//
// Made before any thread is started, so that all threads inherit the blocked mask and only wait()
// sees the signals. Programs started by us get an empty mask again.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>

namespace millrace::app {

class SignalWaiter {
 public:
  SignalWaiter();   // Blocks SIGINT, SIGTERM and SIGHUP; ignores SIGPIPE.
  ~SignalWaiter();  // Restores the mask.
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

  // The signal that came, or nothing after `timeout`.
  std::optional<int> wait(std::chrono::milliseconds timeout) const;

 private:
  sigset_t set_;
  sigset_t before_;
};

}  // namespace millrace::app
