#include "sandbox/task_child.h"

#include "base/assert.h"
#include "sandbox/frame.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <limits>
#include <new>
#include <string>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

constexpr int kPipeFd = 3;
constexpr int kRequestFd = 4;
constexpr int kFirstFileFd = 5;

bool write_all(const void* data, std::size_t size) noexcept {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(kPipeFd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool send_frame(FrameType type, std::string_view body) noexcept {
  if (body.size() > std::numeric_limits<std::uint32_t>::max()) return false;
  const auto head =
      encode_head({.type = type, .size_bytes = static_cast<std::uint32_t>(body.size())});
  return write_all(head.bytes, sizeof head.bytes) && write_all(body.data(), body.size());
}

// The answer is out, or cannot be given.
[[noreturn]] void leave(bool answered) noexcept { ::_exit(answered ? 0 : 1); }

std::array<char, 4> encode_number(std::uint32_t value) noexcept {
  std::array<char, 4> bytes{};
  for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

// The filter sends whoever makes a forbidden call here, and lets nobody replace this. There is
// nothing in it that a hostile caller could bend: constants, and the exit.
void on_forbidden_call(int, siginfo_t* info, void*) noexcept {
  const auto number = encode_number(static_cast<std::uint32_t>(info->si_syscall));
  send_frame(FrameType::forbidden, {number.data(), number.size()});
  ::_exit(kForbiddenExit);
}

// Tells the parent once, so that a crash that follows gets its right name.
void on_memory_short() {
  static bool told = false;
  if (!std::exchange(told, true)) send_frame(FrameType::memory_short, {});
  throw std::bad_alloc();
}

void set_signals() noexcept {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;  // output() reports a parent that has gone.
  ::sigaction(SIGPIPE, &action, nullptr);
  action.sa_sigaction = on_forbidden_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSYS, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Received descriptors have any numbers, also those that others shall get: all go up, then down.
bool arrange_descriptors(const ChildTask& task) noexcept {
  std::array<int, kWireFdsMax> high{};
  const std::size_t count = task.start.fds.size();
  for (std::size_t i = 0; i < count; ++i) {
    high[i] = ::fcntl(task.start.fds[i].get(), F_DUPFD_CLOEXEC, kZygoteFdsFrom);
    if (high[i] < 0) return false;
  }
  for (int fd = 0; fd < kPipeFd; ++fd) {
    if (::dup2(task.null_fd, fd) < 0) return false;
  }
  // The packet has the request first, then the pipe, then the files.
  if (::dup2(high[1], kPipeFd) < 0 || ::dup2(high[0], kRequestFd) < 0) return false;
  for (std::size_t i = 2; i < count; ++i) {
    if (::dup2(high[i], kFirstFileFd + static_cast<int>(i) - 2) < 0) return false;
  }
  return true;
}

Result<std::string> read_request() {
  struct stat info{};
  if (::fstat(kRequestFd, &info) != 0) return fail(ErrorKind::internal, "no request");
  std::string request(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < request.size()) {
    const auto at = static_cast<off_t>(have);
    const ssize_t size = ::pread(kRequestFd, request.data() + have, request.size() - have, at);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return fail(ErrorKind::internal, "the request cannot be read");
    have += static_cast<std::size_t>(size);
  }
  ::close(kRequestFd);
  return request;
}

class PipeChannel final : public TaskChannel {
 public:
  PipeChannel(std::string request, std::size_t file_count)
      : request_(std::move(request)), file_count_(file_count) {}

  std::string_view request() const override { return request_; }
  std::size_t file_count() const override { return file_count_; }
  int file(std::size_t i) const override {
    MR_ASSERT(i < file_count_);
    return kFirstFileFd + static_cast<int>(i);
  }

  // Gathered: a frame costs the parent the same, whether it carries one byte or 64 KiB.
  Result<void> output(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), kOutputFrameMaxBytes - pending_.size()));
      pending_.append(reinterpret_cast<const char*>(part.data()), part.size());
      bytes = bytes.subspan(part.size());
      if (pending_.size() == kOutputFrameMaxBytes) MR_TRY_VOID(flush());
    }
    return ok();
  }

  Result<void> flush() {
    if (!pending_.empty() && !send_frame(FrameType::output, pending_)) {
      return fail(ErrorKind::cancelled, "nobody listens to the output any more");
    }
    pending_.clear();
    return ok();
  }

  void progress(int done, int total) override {
    total = std::max(total, 0);
    const auto first = encode_number(static_cast<std::uint32_t>(std::clamp(done, 0, total)));
    const auto second = encode_number(static_cast<std::uint32_t>(total));
    std::array<char, 8> body{};
    std::ranges::copy(first, body.begin());
    std::ranges::copy(second, body.begin() + 4);
    send_frame(FrameType::progress, {body.data(), body.size()});
  }

 private:
  std::string request_;
  std::size_t file_count_;
  std::string pending_;  // Output, less than a frame.
};

bool answer(const Result<std::string>& result) {
  if (result.has_value()) return send_frame(FrameType::result, *result);
  std::string body(to_string(result.error().kind));
  body += '\0';
  body += printable(result.error().message, 1024);
  return send_frame(FrameType::refused, body);
}

// An exception is a bug or a parser that gave up: it ends the child as a crash does. Only memory is
// told apart.
bool run_and_answer(const ChildTask& task) {
  try {
    auto request = read_request();
    if (!request.has_value()) return answer(fail(request.error()));
    PipeChannel channel(*std::move(request), task.start.fds.size() - 2);
    const auto result = task.server.run(channel);
    if (const auto flushed = channel.flush(); !flushed.has_value()) return false;
    return answer(result);
  } catch (const std::bad_alloc&) {
    return send_frame(FrameType::out_of_memory, {});
  }
}

}  // namespace

void run_task(const ChildTask& task) noexcept {
  set_signals();
  if (!arrange_descriptors(task)) ::_exit(1);
  const WireMessage& start = task.start.message;
  const JailLimits limits{.memory_bytes = start.memory_bytes,
                          .cpu_seconds = start.cpu_seconds,
                          .file_bytes = start.file_bytes,
                          .processes = start.processes,
                          .group = task.group};
  const int first_closed = kFirstFileFd + static_cast<int>(task.start.fds.size()) - 2;
  const auto taken = take_jail(task.plan, limits, first_closed);
  if (!taken.has_value()) {
    leave(send_frame(FrameType::cannot_confine, printable(taken.error().message, 1024)));
  }
  // The zygote may have died before its death was watched.
  if (::getppid() != task.zygote) ::_exit(1);
  std::set_new_handler(on_memory_short);
  if (!send_frame(FrameType::confined, {})) ::_exit(1);
  leave(run_and_answer(task));
}

}  // namespace millrace::sandbox
