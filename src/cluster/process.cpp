#include "cluster/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::cluster {

namespace {

constexpr std::size_t kOutputMaxBytes = 1024 * 1024;

int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// Waits for one descriptor, starting again after signals. Returns true when it is ready.
bool wait_readable(int fd, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd item{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&item, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// Everything between fork and exec; only calls that are safe there, since other threads of the
// parent may have held any lock. Raw system calls for identity: glibc's wrappers synchronise
// threads that do not exist in the child.
struct ChildSetup {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const OsUser* user = nullptr;
  int null_fd = -1;
  int output_fd = -1;
  int directory_fd = -1;
  int error_fd = -1;
  int death_signal = 0;
  pid_t parent = 0;

  [[noreturn]] void run() const {
    ::setsid();
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);

    // dup2 clears close-on-exec; the sources are all above the targets (see raise_fd).
    ::dup2(null_fd, 0);
    ::dup2(output_fd >= 0 ? output_fd : null_fd, 1);
    ::dup2(output_fd >= 0 ? output_fd : null_fd, 2);
    close_on_exec_from(3);
    if (directory_fd >= 0) ::dup2(directory_fd, kInheritedDirectoryFd);

    if (user) {
      const bool dropped =
          ::syscall(SYS_setgroups, user->groups.size(), user->groups.data()) == 0 &&
          ::syscall(SYS_setresgid, user->gid, user->gid, user->gid) == 0 &&
          ::syscall(SYS_setresuid, user->uid, user->uid, user->uid) == 0;
      if (!dropped) give_up();
    }
    // After the change of user, which would clear it.
    if (death_signal != 0) {
      ::prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
      if (::getppid() != parent) ::_exit(1);  // The parent was faster.
    }
    if (::chdir("/") != 0) give_up();
    ::umask(077);
    ::execve(program, argv, envp);
    give_up();
  }

  static void close_on_exec_from(unsigned first) {
    constexpr unsigned kCloexecFlag = 4;  // CLOSE_RANGE_CLOEXEC, Linux 5.11.
    if (::syscall(SYS_close_range, first, ~0U, kCloexecFlag) == 0) return;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
    for (int fd = static_cast<int>(first); fd < end; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

  [[noreturn]] void give_up() const {
    const int code = errno;
    [[maybe_unused]] const auto written = ::write(error_fd, &code, sizeof code);
    ::_exit(127);
  }
};

// A copy above the numbers the child gives a meaning to, so that no dup2 overwrites a source.
UniqueFd raise_fd(int fd) {
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, kInheritedDirectoryFd + 1));
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

Result<Process> Process::spawn(const SpawnSpec& spec) {
  const std::vector<std::string> env = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
      "TZ=UTC"};
  const auto argv = pointers(spec.argv);
  const auto envp = pointers(env);

  const UniqueFd null_low(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::array<int, 2> ends{-1, -1};
  if (!null_low || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot start {}: {}", spec.argv[0], std::strerror(errno)));
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_low(ends[1]);
  UniqueFd write_end = raise_fd(write_low.get());
  write_low.reset();
  const UniqueFd null_fd = raise_fd(null_low.get());
  const UniqueFd output_fd = spec.output_fd >= 0 ? raise_fd(spec.output_fd) : UniqueFd();
  const UniqueFd directory_fd = spec.directory_fd >= 0 ? raise_fd(spec.directory_fd) : UniqueFd();

  const bool drop = spec.user && ::geteuid() == 0;
  const ChildSetup setup{.program = argv[0],
                         .argv = argv.data(),
                         .envp = envp.data(),
                         .user = drop ? &*spec.user : nullptr,
                         .null_fd = null_fd.get(),
                         .output_fd = output_fd.get(),
                         .directory_fd = directory_fd.get(),
                         .error_fd = write_end.get(),
                         .death_signal = spec.death_signal,
                         .parent = ::getpid()};

  // All signals wait while the child has our handlers.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) setup.run();
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot start {}: {}", spec.argv[0], std::strerror(fork_error)));
  }

  Process process;
  process.pid_ = pid;
  process.child_ = true;
  process.pidfd_ = UniqueFd(open_pidfd(pid));  // Ours and unreaped: cannot be another process.
  write_end.reset();
  int code = 0;
  ssize_t got = 0;
  do {
    got = ::read(read_end.get(), &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof code) {
    ::waitpid(pid, nullptr, 0);
    return fail(ErrorKind::unavailable,
                fmt::format("cannot start {}: {}", spec.argv[0], std::strerror(code)));
  }
  if (!process.pidfd_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail(ErrorKind::unavailable, "this kernel has no pidfd_open; Linux 5.3 is needed");
  }
  return process;
}

Result<Process> Process::attach(pid_t pid) {
  Process process;
  process.pid_ = pid;
  process.pidfd_ = UniqueFd(pid > 0 ? open_pidfd(pid) : -1);
  if (!process.pidfd_) return fail(ErrorKind::not_found, fmt::format("no process {}", pid));
  return process;
}

bool Process::running() const { return pidfd_ && !ended_ && !wait_readable(pidfd_.get(), {}); }

bool Process::wait(std::chrono::milliseconds timeout) {
  if (ended_ || !pidfd_) return true;
  if (!wait_readable(pidfd_.get(), timeout)) return false;
  ended_ = true;
  if (child_) {
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) {
      if (WIFEXITED(status)) exit_status_ = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) exit_signal_ = WTERMSIG(status);
    }
  }
  return true;
}

void Process::signal(int number) const {
  if (pidfd_ && !ended_) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::string Process::exit_text() const {
  if (exit_status_) return fmt::format("exit status {}", *exit_status_);
  if (exit_signal_) return fmt::format("signal {}", *exit_signal_);
  return "gone";
}

Result<CommandOutput> run_command(SpawnSpec spec, std::chrono::milliseconds timeout) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return fail(ErrorKind::unavailable, fmt::format("no pipe: {}", std::strerror(errno)));
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  // The reading end must not block us; the writing end must not fail for the child.
  ::fcntl(write_end.get(), F_SETFL, 0);
  spec.output_fd = write_end.get();
  spec.death_signal = SIGKILL;
  MR_TRY(auto process, Process::spawn(spec));
  write_end.reset();

  CommandOutput result;
  const auto drain = [&] {
    std::array<char, 8192> chunk;
    for (;;) {
      const auto got = ::read(read_end.get(), chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got == 0;
      result.output.append(chunk.data(), static_cast<std::size_t>(got));
      if (result.output.size() > 2 * kOutputMaxBytes) {
        result.output.erase(0, result.output.size() - kOutputMaxBytes);
      }
    }
  };
  // Ends when the program ends, not when the pipe closes: its children may keep that open.
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  bool closed = false;
  while (!process.wait({})) {
    std::array<pollfd, 2> items{
        pollfd{.fd = process.pidfd(), .events = POLLIN, .revents = 0},
        pollfd{.fd = closed ? -1 : read_end.get(), .events = POLLIN, .revents = 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      process.signal(SIGKILL);
      process.wait(std::chrono::seconds(10));
      return fail(ErrorKind::unavailable,
                  fmt::format("{} did not end within {} s", spec.argv[0], timeout.count() / 1000));
    }
    ::poll(items.data(), items.size(), static_cast<int>(left.count()));
    if (items[1].revents != 0) closed = drain();
  }
  drain();
  result.succeeded = process.succeeded();
  result.exit_text = process.exit_text();
  return result;
}

}  // namespace millrace::cluster
