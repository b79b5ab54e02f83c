#include "sandbox/process.h"

#include "base/assert.h"
#include "sandbox/exec_child.h"
#include "sandbox/executable.h"
#include "sandbox/memory_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace millrace::sandbox {
namespace {

// Descriptors that the child renumbers to 0…4 stay clear of those numbers.
constexpr int kLowestFd = 10;

std::string error_text(int error) { return std::generic_category().message(error); }

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable, fmt::format("{}: {}", what, error_text(error)));
}

Result<UniqueFd> move_up(UniqueFd fd) {
  if (fd.get() >= kLowestFd) return fd;
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowestFd));
  if (!moved.valid()) return fail_errno("cannot open a descriptor for a child process", errno);
  return moved;
}

struct Pipe {
  UniqueFd ours;    // Read end, non-blocking.
  UniqueFd theirs;  // Write end, blocking: programs expect that.
};

Result<Pipe> open_pipe() {
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) return fail_errno("cannot open a pipe", errno);
  Pipe pipe{.ours = UniqueFd(fds[0]), .theirs = UniqueFd(fds[1])};
  if (::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK) != 0) {
    return fail_errno("cannot set up a pipe", errno);
  }
  MR_TRY(pipe.theirs, move_up(std::move(pipe.theirs)));
  return pipe;
}

// Standard input is a sealed file in memory and not a pipe: nobody has to feed it while the output
// is read, and a program that never reads it costs nothing.
Result<UniqueFd> open_stdin(std::string_view data) {
  MR_TRY(UniqueFd file, make_memory_file("stdin", data));
  return move_up(std::move(file));
}

// The child's descriptor 3: what the caller brought, or a pipe.
Result<Pipe> open_control(UniqueFd control) {
  if (!control.valid()) return open_pipe();
  MR_TRY(UniqueFd theirs, move_up(std::move(control)));
  return Pipe{.ours = {}, .theirs = std::move(theirs)};
}

bool has_nul(std::string_view text) { return text.contains('\0'); }

Result<void> check_spec(const ChildSpec& spec) {
  if (spec.argv.empty()) return fail(ErrorKind::invalid_argument, "argv is empty");
  if (spec.timeout <= std::chrono::milliseconds::zero()) {
    return fail(ErrorKind::invalid_argument, "timeout must be above zero");
  }
  if (spec.kill_grace < std::chrono::milliseconds::zero()) {
    return fail(ErrorKind::invalid_argument, "kill_grace must not be negative");
  }
  for (const auto& argument : spec.argv) {
    if (has_nul(argument)) return fail(ErrorKind::invalid_argument, "argv contains a zero byte");
  }
  for (const auto& [name, value] : spec.env) {
    if (name.empty() || name.contains('=') || has_nul(name)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("environment variable name '{}' is not valid", name));
    }
    if (has_nul(value)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("environment variable {} contains a zero byte", name));
    }
  }
  if (has_nul(spec.cwd)) return fail(ErrorKind::invalid_argument, "cwd contains a zero byte");
  return ok();
}

Result<void> check_directory(const std::string& cwd) {
  if (cwd.empty()) return ok();
  struct stat info{};
  if (::stat(cwd.c_str(), &info) != 0) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("working directory '{}' cannot be used: {}", cwd, error_text(errno)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("working directory '{}' is not a directory", cwd));
  }
  return ok();
}

Result<std::string> find_program(const ChildSpec& spec) {
  ExecutableSearch search{.program = spec.argv.front(), .cwd = spec.cwd};
  if (const auto path = spec.env.find("PATH"); path != spec.env.end()) search.path = path->second;
  return find_executable(search);
}

Limit limit(int resource, std::uint64_t soft, std::uint64_t margin = 0) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &now);
  const rlim_t hard =
      std::min<rlim_t>(std::min(soft, RLIM_INFINITY - margin) + margin, now.rlim_max);
  return {.resource = resource, .soft = std::min<rlim_t>(soft, hard), .hard = hard};
}

std::vector<Limit> make_limits(const ChildSpec::Limits& wanted) {
  std::vector<Limit> limits;
  if (wanted.file_bytes) limits.push_back(limit(RLIMIT_FSIZE, *wanted.file_bytes));
  if (wanted.open_files) limits.push_back(limit(RLIMIT_NOFILE, *wanted.open_files));
  if (wanted.processes) limits.push_back(limit(RLIMIT_NPROC, *wanted.processes));
  if (wanted.cpu_seconds) limits.push_back(limit(RLIMIT_CPU, *wanted.cpu_seconds, 5));
  if (!wanted.core) limits.push_back(limit(RLIMIT_CORE, 0));
  // Last: it may already be exceeded by this process, and then nothing can be allocated any more.
  if (wanted.memory_bytes) limits.push_back(limit(RLIMIT_AS, *wanted.memory_bytes));
  return limits;
}

// fork with all signals blocked: no handler of ours may run in the child.
pid_t fork_and_exec(const ExecPlan& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int error = errno;
  if (pid == 0) exec_child(plan);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Done on both sides, so that the group exists whoever is first. Who leads a group already can
  // have no session any more.
  if (pid > 0 && !plan.own_session) ::setpgid(pid, pid);
  errno = error;
  return pid;
}

Error exec_error(const ExecReport& report, const std::string& file, const std::string& cwd) {
  const auto reason = error_text(report.error);
  const auto invalid = [](std::string message) {
    return Error{.kind = ErrorKind::invalid_argument, .message = std::move(message)};
  };
  switch (report.step) {
    case ExecStep::set_up:
      return {.kind = ErrorKind::unavailable,
              .message = fmt::format("cannot set up the process for '{}': {}", file, reason)};
    case ExecStep::directory:
      return invalid(fmt::format("working directory '{}' cannot be used: {}", cwd, reason));
    case ExecStep::limits:
      return invalid(fmt::format("cannot set the limits of '{}': {}", file, reason));
    case ExecStep::exec:
      break;
  }
  switch (report.error) {
    case ENOENT:
      return {
          .kind = ErrorKind::not_found,
          .message = fmt::format("cannot run '{}': the program, or the interpreter named in its "
                                 "first line, does not exist",
                                 file)};
    case ENOEXEC:
      return invalid(fmt::format(
          "cannot run '{}': not a program for this machine; a script needs a first line like "
          "#!/bin/sh",
          file));
    case E2BIG:
      return invalid(
          fmt::format("cannot run '{}': its arguments and environment are too long", file));
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ETXTBSY:
    case EIO:
      return {.kind = ErrorKind::unavailable,
              .message = fmt::format("cannot run '{}': {}", file, reason)};
    default:
      return invalid(fmt::format("cannot run '{}': {}", file, reason));
  }
}

}  // namespace

Result<Process> Process::start(const ChildSpec& spec, UniqueFd control_fd) {
  MR_TRY_VOID(check_spec(spec));
  MR_TRY_VOID(check_directory(spec.cwd));
  MR_TRY(const std::string file, find_program(spec));

  MR_TRY(const UniqueFd input, open_stdin(spec.stdin_data));
  MR_TRY(Pipe output, open_pipe());
  MR_TRY(Pipe errors, open_pipe());
  MR_TRY(Pipe control, open_control(std::move(control_fd)));
  MR_TRY(Pipe report, open_pipe());

  std::vector<char*> argv;
  for (const auto& argument : spec.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  for (const auto& [name, value] : spec.env) variables.push_back(fmt::format("{}={}", name, value));
  std::vector<char*> envp;
  for (auto& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  const auto limits = make_limits(spec.limits);

  Process process;
  process.pid_ = fork_and_exec({.file = file.c_str(),
                                .argv = argv.data(),
                                .envp = envp.data(),
                                .cwd = spec.cwd.empty() ? nullptr : spec.cwd.c_str(),
                                .limits = limits,
                                .parent = ::getpid(),
                                .own_session = spec.own_session,
                                .stdin_fd = input.get(),
                                .stdout_fd = output.theirs.get(),
                                .stderr_fd = errors.theirs.get(),
                                .control_fd = control.theirs.get(),
                                .report_fd = report.theirs.get()});
  if (process.pid_ < 0) return fail_errno(fmt::format("cannot start '{}'", file), errno);
  process.file_ = file;
  process.cwd_ = spec.cwd;
  process.stdout_ = std::move(output.ours);
  process.stderr_ = std::move(errors.ours);
  process.control_ = std::move(control.ours);
  process.report_ = std::move(report.ours);
  // The leader is not reaped before reap(), so its number cannot have been given away meanwhile.
  process.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  if (!process.pidfd_.valid() && errno == ESRCH) {
    process.pid_ = -1;  // Ignored SIGCHLD: it has ended and its number is nobody's, or another's.
    return fail(ErrorKind::internal,
                fmt::format("cannot learn how '{}' ended: it was reaped by the host", file));
  }
  if (!process.pidfd_.valid()) {
    return fail_errno("cannot watch a child process (pidfd_open, Linux 5.3)", errno);
  }
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      file_(std::move(other.file_)),
      cwd_(std::move(other.cwd_)),
      pidfd_(std::move(other.pidfd_)),
      stdout_(std::move(other.stdout_)),
      stderr_(std::move(other.stderr_)),
      control_(std::move(other.control_)),
      report_(std::move(other.report_)) {}

Process::~Process() {
  if (pid_ > 0) static_cast<void>(reap());
}

bool Process::has_ended() const {
  MR_ASSERT(pid_ > 0);
  siginfo_t info{};
  const int waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  // No such child: somebody else reaped it (a process that ignores SIGCHLD does that by itself).
  if (waited != 0) return errno == ECHILD;
  return info.si_pid == pid_;
}

void Process::send_signal(int signal) const {
  MR_ASSERT(pid_ > 0);
  const bool group_gone = ::kill(-pid_, signal) != 0;
  if (group_gone || signal == SIGKILL) ::kill(pid_, signal);
}

Result<Ending> Process::reap() {
  MR_ASSERT(pid_ > 0);
  send_signal(SIGKILL);  // While the leader is unreaped, the group's number is still ours.
  siginfo_t info{};
  int waited = 0;
  do {
    waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
  } while (waited != 0 && errno == EINTR);
  const int error = errno;
  pid_ = -1;
  if (waited != 0) {
    return fail(ErrorKind::internal,
                fmt::format("cannot learn how '{}' ended: {}", file_, error_text(error)));
  }

  ExecReport report{};
  if (::read(report_.get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    return fail(exec_error(report, file_, cwd_));
  }
  if (info.si_code == CLD_EXITED) return Ending{.exit_code = info.si_status, .signal = {}};
  return Ending{.exit_code = {}, .signal = info.si_status};
}

}  // namespace millrace::sandbox
