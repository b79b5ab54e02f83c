#include "worker/supervisor_link.h"

#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace millrace::worker {

Result<SupervisorLink> SupervisorLink::open(std::string_view value) {
  int fd = -1;
  pid_t supervisor = -1;
  const auto* end = value.data() + value.size();
  const auto first = std::from_chars(value.data(), end, fd);
  const bool well_formed = first.ptr != end && *first.ptr == ':' &&
                           std::from_chars(first.ptr + 1, end, supervisor).ptr == end && fd > 2 &&
                           supervisor > 0;
  if (!well_formed || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return fail(ErrorKind::invalid_argument, "--child is for the supervisor's own use");
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != supervisor) ::raise(SIGTERM);  // It died before we could ask.
  return SupervisorLink(fd);
}

void SupervisorLink::registered(std::string_view worker_id) const {
  const auto line = "registered " + std::string(worker_id) + "\n";
  // A line is far below PIPE_BUF, so it is written whole or, without a supervisor, not at all.
  [[maybe_unused]] const auto written = ::write(fd_, line.data(), line.size());
}

}  // namespace millrace::worker
