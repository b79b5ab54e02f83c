#include "app/signals.h"

#include <ctime>

namespace millrace::app {

SignalWaiter::SignalWaiter() {
  ::sigemptyset(&set_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set_, number);
  ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  std::signal(SIGPIPE, SIG_IGN);
  // Whoever started us may have left these ignored: no stop would be heard, no child's end seen.
  for (const int number : {SIGTERM, SIGCHLD}) std::signal(number, SIG_DFL);
}

SignalWaiter::~SignalWaiter() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> SignalWaiter::wait(std::chrono::milliseconds timeout) const {
  const timespec time{.tv_sec = timeout.count() / 1000,
                      .tv_nsec = (timeout.count() % 1000) * 1'000'000};
  const int number = ::sigtimedwait(&set_, nullptr, &time);
  if (number < 0) return std::nullopt;
  return number;
}

}  // namespace millrace::app
