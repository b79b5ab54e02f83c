#include "sandbox/warm_program.h"

#include "sandbox/frame.h"
#include "sandbox/line_splitter.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace millrace::sandbox {
namespace {

namespace asio = boost::asio;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kLoggedMaxBytes = 64 * 1024;  // Per life of the program.
constexpr std::size_t kLoggedLineMaxBytes = 1024;

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(error)));
}

Result<void> assign(asio::posix::stream_descriptor& descriptor, UniqueFd fd) {
  boost::system::error_code error;
  descriptor.assign(fd.get(), error);
  if (error) return fail_errno("cannot watch the program", error.value());
  static_cast<void>(fd.release());
  return ok();
}

// Not close(): see child.cpp.
void unwatch(asio::posix::stream_descriptor* descriptor) {
  if (descriptor->is_open()) const UniqueFd closed(descriptor->release());
}

}  // namespace

Result<std::shared_ptr<WarmProgram>> WarmProgram::start(Executor strand, const PoolSpec& spec) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno("cannot open a socket pair", errno);
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  ChildSpec child{.argv = {spec.program}, .env = spec.env, .timeout = spec.warm_up_timeout};
  // Linux shares the processor among sessions first (autogroup), and only then by priority.
  child.own_session = true;
  child.argv.insert(child.argv.end(), spec.args.begin(), spec.args.end());
  MR_TRY(Process process, Process::start(child, std::move(theirs)));
  // Shared, because a packet may be on its way when the pool lets go of it.
  std::shared_ptr<WarmProgram> program(
      new WarmProgram(std::move(strand), std::move(process), spec.log));
  MR_TRY_VOID(program->watch(std::move(ours)));
  return program;
}

WarmProgram::WarmProgram(Executor strand, Process process, Logger log)
    : process_(std::move(process)),
      pid_(process_.pid()),
      log_(std::move(log)),
      socket_(strand),
      exit_(strand),
      stdout_(strand),
      stderr_(strand) {}

Result<void> WarmProgram::watch(UniqueFd socket) {
  MR_TRY_VOID(assign(socket_, std::move(socket)));
  MR_TRY_VOID(assign(exit_, process_.take_pidfd()));
  MR_TRY_VOID(assign(stdout_, process_.take_stdout()));
  return assign(stderr_, process_.take_stderr());
}

Task<void> WarmProgram::send(WireMessage message, std::vector<int> fds) {
  while (!ended_) {
    switch (send_packet(socket_.native_handle(), message, {}, fds, /*wait=*/false)) {
      case WireAnswer::done:
        co_return ok();
      case WireAnswer::would_block: {
        const auto [error] = co_await socket_.async_wait(Descriptor::wait_write, kAsTuple);
        if (!error) continue;
        co_return fail(ErrorKind::unavailable, "the program of the tasks has ended");
      }
      case WireAnswer::closed:
        co_return fail(ErrorKind::unavailable, "the program of the tasks has ended");
      case WireAnswer::failed:
        co_return fail_errno("cannot hand over a task", errno);
    }
  }
  co_return fail(ErrorKind::unavailable, "the program of the tasks has ended");
}

void WarmProgram::kill() {
  if (!ended_) process_.send_signal(SIGKILL);
}

awaitable<std::string> WarmProgram::serve(OnPacket on_packet) {
  using namespace asio::experimental::awaitable_operators;
  co_await (read_packets(std::move(on_packet)) && log_lines(&stdout_) && log_lines(&stderr_));
  const auto ending = process_.reap();
  unwatch(&exit_);
  if (!ending.has_value()) co_return ending.error().message;
  if (ending->signal) co_return fmt::format("the program was ended by signal {}", *ending->signal);
  co_return fmt::format("the program exited with code {}", ending->exit_code.value_or(-1));
}

awaitable<void> WarmProgram::read_packets(OnPacket on_packet) {
  for (;;) {
    WirePacket packet;
    const auto answer = receive_packet(socket_.native_handle(), packet, /*wait=*/false);
    if (answer == WireAnswer::done) {
      on_packet(std::move(packet));
      continue;
    }
    if (answer != WireAnswer::would_block) break;
    const auto [error] = co_await socket_.async_wait(Descriptor::wait_read, kAsTuple);
    if (error) break;
  }
  process_.send_signal(SIGKILL);
  while (!process_.has_ended()) {
    const auto [error] = co_await exit_.async_wait(Descriptor::wait_read, kAsTuple);
    if (error) break;
  }
  ended_ = true;
  unwatch(&socket_);
  for (Descriptor* pipe : {&stdout_, &stderr_}) {
    boost::system::error_code ignored;
    pipe->cancel(ignored);
  }
}

// What libraries print while they warm up. Children have /dev/null, so nothing of a document.
awaitable<void> WarmProgram::log_lines(Descriptor* pipe) {
  LineSplitter lines({.line_max_bytes = kLoggedLineMaxBytes,
                      .total_max_bytes = kLoggedMaxBytes,
                      .truncation_notice = "more lines are not logged"},
                     [this](std::string_view line) {
                       log_.info("task_program_said",
                                 {{"line", printable(line, kLoggedLineMaxBytes)}, {"pid", pid_}});
                     });
  std::array<char, 4096> chunk;
  while (!ended_) {
    const auto [error, size] = co_await pipe->async_read_some(asio::buffer(chunk), kAsTuple);
    if (size > 0) lines.feed({chunk.data(), size});
    if (error) break;
  }
  lines.finish();
  unwatch(pipe);
}

}  // namespace millrace::sandbox
