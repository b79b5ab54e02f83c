#include "worker/child_process.h"

#include "base/either.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace millrace::worker {

namespace asio = boost::asio;

namespace {

using namespace either;

constexpr int kReportFd = 3;
constexpr std::size_t kLineMaxBytes = 4096;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Owns what posix_spawn wants to be told.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  explicit SpawnSettings(int report_fd) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, report_fd, kReportFd);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

Result<pid_t> spawn_program(std::vector<std::string> argv,
                            const std::map<std::string, std::string>& env, int report_fd) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : env) variables.push_back(fmt::format("{}={}", name, value));
  const SpawnSettings settings(report_fd);
  pid_t pid = -1;
  const int failed =
      ::posix_spawn(&pid, argv.front().c_str(), &settings.actions, &settings.attributes,
                    pointers(argv).data(), pointers(variables).data());
  if (failed == 0) return pid;
  return fail(ErrorKind::unavailable,
              fmt::format("cannot start {}: {}", argv.front(), std::strerror(failed)));
}

}  // namespace

std::string ChildEnding::describe() const {
  if (!signal) return fmt::format("exit code {}", exit_code.value_or(-1));
  const char* name = ::sigabbrev_np(*signal);
  return name == nullptr ? fmt::format("killed by signal {}", *signal)
                         : fmt::format("killed by SIG{}", name);
}

struct ChildProcess::Impl {
  Impl(const Executor& executor, pid_t child, int pidfd, int report_fd)
      : pid(child), ended(executor, pidfd), report(executor, report_fd) {}

  void collect(int options) {
    siginfo_t info{};
    if (pid < 0 || ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | options) != 0) return;
    if (info.si_pid == 0) return;
    pid = -1;
    if (info.si_code == CLD_EXITED) {
      ending.exit_code = info.si_status;
    } else {
      ending.signal = info.si_status;
    }
  }

  void take_lines(std::string_view bytes, const std::function<void(std::string_view)>& on_line) {
    for (const char c : bytes) {
      if (c == '\n') {
        on_line(std::exchange(line, {}));
      } else if (line.size() < kLineMaxBytes) {
        line += c;
      }
    }
  }

  awaitable<void> read_lines(std::function<void(std::string_view)> on_line) {
    std::array<char, 512> buffer{};
    for (;;) {
      const auto [error, size] = co_await report.async_read_some(
          asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (error) break;
      take_lines({buffer.data(), size}, on_line);
    }
    // The end of its reports is not the end of the process.
    co_await ended.async_wait(asio::posix::stream_descriptor::wait_read,
                              asio::as_tuple(asio::use_awaitable));
  }

  pid_t pid;  // -1 once collected: the number may belong to somebody else from then on.
  asio::posix::stream_descriptor ended;   // A pidfd: readable when it has ended.
  asio::posix::stream_descriptor report;  // Our end of its descriptor 3.
  std::string line;
  ChildEnding ending;
};

ChildProcess::ChildProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;

ChildProcess::~ChildProcess() {
  if (!impl_ || impl_->pid < 0) return;
  ::kill(impl_->pid, SIGKILL);
  impl_->collect(0);
}

Result<ChildProcess> ChildProcess::start(Executor executor, const std::vector<std::string>& argv,
                                         const std::map<std::string, std::string>& env) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  auto started = spawn_program(argv, env, pipe[1]);
  ::close(pipe[1]);
  if (!started.has_value()) {
    ::close(pipe[0]);
    return fail(std::move(started).error());
  }
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, *started, 0));
  if (pidfd < 0) {
    const int reason = errno;
    ::kill(*started, SIGKILL);
    ::waitpid(*started, nullptr, 0);
    ::close(pipe[0]);
    return fail(ErrorKind::unavailable, fmt::format("pidfd_open: {}", std::strerror(reason)));
  }
  return ChildProcess(std::make_unique<Impl>(executor, *started, pidfd, pipe[0]));
}

int ChildProcess::pid() const { return impl_->pid; }

void ChildProcess::send_signal(int signal) {
  if (impl_->pid > 0) ::kill(impl_->pid, signal);
}

awaitable<ChildEnding> ChildProcess::wait(std::function<void(std::string_view)> on_line) {
  auto& impl = *impl_;
  co_await (impl.ended.async_wait(asio::posix::stream_descriptor::wait_read,
                                  asio::as_tuple(asio::use_awaitable)) ||
            impl.read_lines(on_line));
  impl.collect(0);
  // What it said last may still be in the pipe.
  std::array<char, 4096> buffer{};
  boost::system::error_code error;
  impl.report.non_blocking(true, error);
  for (;;) {
    const auto size = impl.report.read_some(asio::buffer(buffer), error);
    if (error || size == 0) break;
    impl.take_lines({buffer.data(), size}, on_line);
  }
  co_return impl.ending;
}

}  // namespace millrace::worker
