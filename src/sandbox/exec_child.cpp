#include "sandbox/exec_child.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

constexpr int kControlFd = 3;
constexpr int kReportFd = 4;

[[noreturn]] void give_up(int report_fd, ExecStep step) noexcept {
  const ExecReport report{.step = step, .error = errno};
  // A report this small is written whole or not at all; if not, the exit code remains.
  [[maybe_unused]] const auto written = ::write(report_fd, &report, sizeof report);
  ::_exit(127);
}

void close_from(int first) noexcept {
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  // A kernel before 5.9, or a filter that does not know the call. Ours are all O_CLOEXEC anyway.
  for (int fd = first; fd < 65536; ++fd) ::close(fd);
}

// The kernel's own structure, all zero: SIG_DFL, no flags, no mask. Larger than it is anywhere.
constexpr unsigned char kDefaultAction[64] = {};
constexpr unsigned char kNoSignals[8] = {};

// Handlers, ignored and blocked signals would otherwise survive into the program (SIGPIPE, for
// one). By system call, because the C library hides the two signals it keeps for itself, and
// whoever started us may have left even those ignored.
void reset_signals() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, kDefaultAction, nullptr, sizeof kNoSignals);
  }
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, kNoSignals, nullptr, sizeof kNoSignals);
}

}  // namespace

void exec_child(const ExecPlan& plan) noexcept {
  // A session leads a process group, too.
  const bool leads = plan.own_session ? ::setsid() > 0 : ::setpgid(0, 0) == 0;
  if (!leads) give_up(plan.report_fd, ExecStep::set_up);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(plan.report_fd, ExecStep::set_up);
  if (::getppid() != plan.parent) ::_exit(127);  // The parent died before it could be watched.

  if (::dup2(plan.stdin_fd, STDIN_FILENO) < 0 || ::dup2(plan.stdout_fd, STDOUT_FILENO) < 0 ||
      ::dup2(plan.stderr_fd, STDERR_FILENO) < 0 || ::dup2(plan.control_fd, kControlFd) < 0 ||
      ::dup3(plan.report_fd, kReportFd, O_CLOEXEC) < 0) {
    give_up(plan.report_fd, ExecStep::set_up);
  }
  close_from(kReportFd + 1);
  if (plan.cwd != nullptr && ::chdir(plan.cwd) != 0) give_up(kReportFd, ExecStep::directory);

  reset_signals();
  for (const Limit& limit : plan.limits) {
    const rlimit value{.rlim_cur = limit.soft, .rlim_max = limit.hard};
    if (::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &value) != 0) {
      give_up(kReportFd, ExecStep::limits);
    }
  }
  ::execve(plan.file, plan.argv, plan.envp);
  give_up(kReportFd, ExecStep::exec);
}

}  // namespace millrace::sandbox
