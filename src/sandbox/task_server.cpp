#include "sandbox/task_server.h"

#include "sandbox/jail.h"
#include "sandbox/task_child.h"
#include "sandbox/task_wire.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable, fmt::format("{}: {}", what, error_text(error)));
}

// What the threads besides this one are called.
std::vector<std::string> other_threads() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (entry.path().filename() == std::to_string(::getpid())) continue;
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    names.push_back(std::move(name));
  }
  return names;
}

Result<UniqueFd> move_up(UniqueFd fd) {
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kZygoteFdsFrom));
  if (!moved.valid()) return fail_errno("no descriptor", errno);
  return moved;
}

// Zygote: receives tasks, forks, reaps, reports. It ends when the worker does, and its children
// with it (PR_SET_PDEATHSIG).
class Zygote {
 public:
  explicit Zygote(const TaskServer& server) : server_(server), pid_(::getpid()) {}

  Result<void> prepare();
  void serve();  // Until the worker closes its end.

 private:
  Result<void> warm_up() const;
  Result<void> open_descriptors();
  void start_task(WirePacket packet);
  void reap_children();
  std::uint64_t group_bytes(std::uint64_t memory_bytes) const;
  void send(const WireMessage& message, std::string_view text = {}, int fd = -1);

  const TaskServer& server_;
  pid_t pid_;
  Result<JailPlan> plan_ = fail(ErrorKind::internal, "not prepared");
  UniqueFd null_;
  UniqueFd signals_;
  std::map<pid_t, std::uint64_t> tasks_;
  std::uint64_t warm_rss_bytes_ = 0;
  bool gone_ = false;  // The worker.
};

Result<void> Zygote::warm_up() const {
  if (!server_.warm_up) return ok();
  try {
    return server_.warm_up();
  } catch (const std::exception& thrown) {
    return fail(ErrorKind::internal, fmt::format("warm-up threw: {}", thrown.what()));
  }
}

Result<void> Zygote::open_descriptors() {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return fail_errno("/dev/null", errno);
  MR_TRY(null_, move_up(std::move(null)));
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  if (::sigprocmask(SIG_BLOCK, &children, nullptr) != 0) return fail_errno("signals", errno);
  UniqueFd signals(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return fail_errno("signalfd", errno);
  MR_TRY(signals_, move_up(std::move(signals)));
  return ok();
}

Result<void> Zygote::prepare() {
  if (::chdir("/") != 0) return fail_errno("cannot go to /", errno);
  const Namespaces namespaces = share_nothing();
  // A change of credentials may have made the kernel forget what Process asked for.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return fail_errno("death signal", errno);
  MR_TRY_VOID(warm_up());
  if (const auto threads = other_threads(); !threads.empty()) {
    return fail(ErrorKind::internal, fmt::format("warm-up left threads behind, and a fork copies "
                                                 "none of them: {}",
                                                 fmt::join(threads, ", ")));
  }
  MR_TRY_VOID(open_descriptors());
  plan_ = prepare_jail(namespaces, server_.read_paths);
  if (plan_.has_value()) {
    for (UniqueFd* fd : {&plan_->ruleset, &plan_->proc}) {
      MR_TRY(*fd, move_up(std::move(*fd)));
    }
    if (plan_->groups) {
      MR_TRY(plan_->groups->folder(), move_up(std::move(plan_->groups->folder())));
    }
  }
  const JailDescription description =
      plan_.has_value()
          ? plan_->description
          : JailDescription{
                {.name = "jail", .used = false, .required = true, .detail = plan_.error().message}};
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  warm_rss_bytes_ = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  send({.type = WireType::ready, .peak_rss_bytes = warm_rss_bytes_}, encode(description));
  return ok();
}

void Zygote::serve() {
  while (!gone_) {
    std::array<pollfd, 2> wait_for = {{{kTaskSocketFd, POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    if (::poll(wait_for.data(), wait_for.size(), -1) < 0 && errno != EINTR) return;
    if (wait_for[1].revents != 0) reap_children();
    if (wait_for[0].revents == 0) continue;
    WirePacket packet;
    const WireAnswer answer = receive_packet(kTaskSocketFd, packet, false);
    if (answer == WireAnswer::would_block) continue;
    if (answer == WireAnswer::closed) return;
    if (answer == WireAnswer::failed) {
      if (packet.message.task_id == 0) return;
      send({.type = WireType::not_started, .task_id = packet.message.task_id}, error_text(errno));
      continue;
    }
    start_task(std::move(packet));
  }
}

// Never less than rlimits allow: a task may copy whatever the warm program has touched, and the
// kernel needs pages for it, too.
std::uint64_t Zygote::group_bytes(std::uint64_t memory_bytes) const {
  constexpr std::uint64_t kKernelBytes = 16ULL * 1024 * 1024;
  return memory_bytes + warm_rss_bytes_ + kKernelBytes;
}

void Zygote::start_task(WirePacket packet) {
  const std::uint64_t id = packet.message.task_id;
  if (!plan_.has_value()) {
    return send({.type = WireType::cannot_confine, .task_id = id}, plan_.error().message);
  }
  if (packet.message.type != WireType::start || packet.fds.size() < 2) {
    return send({.type = WireType::not_started, .task_id = id}, "not a task");
  }
  UniqueFd group;
  if (plan_->groups) {
    auto made = plan_->groups->make(pid_, id, group_bytes(packet.message.memory_bytes));
    if (made.has_value()) group = *std::move(made);
  }
  const pid_t pid = ::fork();
  if (pid < 0) {
    if (plan_->groups) plan_->groups->remove(pid_, id);
    return send({.type = WireType::not_started, .task_id = id}, error_text(errno));
  }
  if (pid == 0) {
    run_task({.server = server_,
              .plan = *plan_,
              .start = packet,
              .null_fd = null_.get(),
              .group = group.get(),
              .zygote = pid_});
  }
  tasks_[pid] = id;
  // Not reaped before this process does it, so the number is still this child's.
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) ::kill(pid, SIGKILL);  // Nobody could stop it: reported when it has ended.
  send({.type = WireType::started, .pid = pid, .task_id = id}, {}, pidfd.get());
}

void Zygote::reap_children() {
  signalfd_siginfo ignored{};
  while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    int status = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    if (pid <= 0) return;
    const auto task = tasks_.find(pid);
    if (task == tasks_.end()) continue;
    const auto micros = [](const timeval& time) {
      return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
             static_cast<std::uint64_t>(time.tv_usec);
    };
    const auto& groups = plan_->groups;
    const bool ran_out = groups && groups->ran_out(pid_, task->second);
    if (groups) groups->remove(pid_, task->second);
    send({.type = WireType::ended,
          .pid = pid,
          .task_id = task->second,
          .wait_status = status,
          .ran_out = ran_out ? 1U : 0U,
          .peak_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024,
          .cpu_us = micros(used.ru_utime) + micros(used.ru_stime)});
    tasks_.erase(task);
  }
}

void Zygote::send(const WireMessage& message, std::string_view text, int fd) {
  const std::array<int, 1> fds = {fd};
  const auto answer = send_packet(kTaskSocketFd, message, text,
                                  std::span(fds).first(fd >= 0 ? 1 : 0), /*wait=*/true);
  if (answer != WireAnswer::done) gone_ = true;
}

bool is_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace

int serve_tasks(const TaskServer& server) {
  if (!is_socket(kTaskSocketFd)) {
    std::fputs("this program is started by a worker, which talks to it on descriptor 3\n", stderr);
    return 2;
  }
  ::fcntl(kTaskSocketFd, F_SETFD, FD_CLOEXEC);
  Zygote zygote(server);
  const auto prepared = zygote.prepare();
  if (!prepared.has_value()) {
    send_packet(kTaskSocketFd, {.type = WireType::not_ready}, prepared.error().message, {}, true);
    return 1;
  }
  zygote.serve();
  return 0;
}

}  // namespace millrace::sandbox
