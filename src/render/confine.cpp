#include "render/confine.h"

#include "sandbox/privileges.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace millrace::render {
namespace {

constexpr int kInputFd = 3;
constexpr int kOutputFd = 4;
constexpr int kReportFd = 5;
constexpr unsigned long kHarmless = MS_NOSUID | MS_NODEV;
constexpr unsigned char kDefaultAction[64] = {};
constexpr unsigned char kNoSignals[8] = {};

[[noreturn]] void give_up(int report_fd, ConfineStep step) noexcept {
  const ConfineReport report{.step = step, .error = errno};
  [[maybe_unused]] const auto written = ::write(report_fd, &report, sizeof report);
  ::_exit(127);
}

bool write_text(const char* path, const char* text) noexcept {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto size = std::strlen(text);
  const bool written = ::write(fd, text, size) == static_cast<ssize_t>(size);
  const int error = errno;
  ::close(fd);
  errno = error;
  return written;
}

bool map_user(const ConfinePlan& plan) noexcept {
  return write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", plan.uid_map) &&
         write_text("/proc/self/gid_map", plan.gid_map);
}

bool show(const View& view) noexcept {
  if (view.is_folder) {
    if (::mkdir(view.target, 0755) != 0 && errno != EEXIST) return false;
  } else {
    const int made = ::open(view.target, O_CREAT | O_RDONLY | O_CLOEXEC, 0444);
    if (made < 0) return false;
    ::close(made);
  }
  if (::mount(view.source, view.target, nullptr, MS_BIND | MS_REC, nullptr) != 0) return false;
  // Devices are files that nodev would close; what is written to a scratch folder is not a program.
  if (!view.is_folder) return true;
  const unsigned long flags = view.writable ? MS_NOEXEC : MS_RDONLY;
  const bool set = ::mount(nullptr, view.target, nullptr, MS_REMOUNT | MS_BIND | kHarmless | flags,
                           nullptr) == 0;
  // Where a flag of the source is locked (user namespaces), its owner is who refuses to write.
  return set || errno == EPERM;
}

bool build_root(const ConfinePlan& plan) noexcept {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("tmpfs", plan.stage, "tmpfs", kHarmless, "size=1m,mode=755") != 0) return false;
  if (::chdir(plan.stage) != 0) return false;
  for (const char* folder : plan.folders) {
    if (::mkdir(folder, 0755) != 0 && errno != EEXIST) return false;
  }
  for (const View& view : plan.views) {
    if (!show(view)) return false;
  }
  if (::mount("proc", "proc", "proc", kHarmless | MS_NOEXEC, nullptr) != 0) return false;
  if (::mount("tmpfs", "dev/shm", "tmpfs", kHarmless | MS_NOEXEC, "size=256m,mode=1777") != 0) {
    return false;
  }
  ::mount(nullptr, ".", nullptr, MS_REMOUNT | MS_RDONLY | kHarmless, nullptr);
  // The old root ends up on top of the new one, and is taken off.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return false;
  if (::umount2(".", MNT_DETACH) != 0) return false;
  return ::chdir("/") == 0;
}

// By system call: the C library's functions would ask its other threads, which are not here.
bool become_nobody() noexcept {
  constexpr auto kId = sandbox::kNobody;
  return ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
         ::syscall(SYS_setresgid, kId, kId, kId) == 0 &&
         ::syscall(SYS_setresuid, kId, kId, kId) == 0;
}

void reset_signals() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, kDefaultAction, nullptr, sizeof kNoSignals);
  }
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, kNoSignals, nullptr, sizeof kNoSignals);
}

void place_descriptors(const ConfinePlan& plan) noexcept {
  if (::dup2(plan.null_fd, 0) < 0 || ::dup2(plan.null_fd, 1) < 0 || ::dup2(plan.errors_fd, 2) < 0 ||
      ::dup2(plan.input_fd, kInputFd) < 0 || ::dup2(plan.output_fd, kOutputFd) < 0 ||
      ::dup3(plan.report_fd, kReportFd, O_CLOEXEC) < 0) {
    give_up(plan.report_fd, ConfineStep::set_up);
  }
}

// The parent may have died before its death could be watched; its number says nothing in a PID
// namespace, but nobody reads the report any more.
bool has_parent() noexcept {
  pollfd watched{.fd = kReportFd, .events = POLLOUT, .revents = 0};
  return ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLERR) == 0;
}

}  // namespace

void confine_and_exec(const ConfinePlan& plan) noexcept {
  if (::setpgid(0, 0) != 0) give_up(plan.report_fd, ConfineStep::set_up);
  place_descriptors(plan);
  if (plan.user_namespace && !map_user(plan)) give_up(kReportFd, ConfineStep::user_map);
  // Best effort: who runs short of memory loses browsers first.
  write_text("/proc/self/oom_score_adj", "1000");
  if (plan.own_root && !build_root(plan)) give_up(kReportFd, ConfineStep::mounts);
  ::syscall(SYS_close_range, kReportFd + 1, ~0U, 0);
  if (plan.become_nobody && !become_nobody()) give_up(kReportFd, ConfineStep::user);
  // After the change of user, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(kReportFd, ConfineStep::set_up);
  if (!has_parent()) ::_exit(127);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(kReportFd, ConfineStep::set_up);
  reset_signals();
  for (const auto& limit : plan.limits) {
    const rlimit value{.rlim_cur = limit.soft, .rlim_max = limit.hard};
    if (::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &value) != 0) {
      give_up(kReportFd, ConfineStep::limits);
    }
  }
  ConfineReport report;
  if (plan.file == nullptr) report.may_nest = ::unshare(CLONE_NEWUSER) == 0;
  [[maybe_unused]] const auto written = ::write(kReportFd, &report, sizeof report);
  if (plan.file == nullptr) ::_exit(0);
  ::execve(plan.file, plan.argv, plan.envp);
  give_up(kReportFd, ConfineStep::exec);
}

}  // namespace millrace::render
