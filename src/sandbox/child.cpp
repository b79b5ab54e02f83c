#include "sandbox/child.h"

#include "sandbox/line_splitter.h"
#include "sandbox/process.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace millrace::sandbox {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;
using std::chrono::steady_clock;

// Far above any sensible timeout, far below where time_points overflow.
constexpr std::chrono::milliseconds kLongest = std::chrono::years(1);
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

// A descriptor that Asio cannot watch (no memory, no epoll slot) is an error and not an exception.
Result<void> watch(Descriptor& descriptor, UniqueFd fd) {
  boost::system::error_code error;
  descriptor.assign(fd.get(), error);
  if (error) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot watch a child process: {}", error.message()));
  }
  static_cast<void>(fd.release());
  return ok();
}

// Not close(): Asio would leave the descriptor in its epoll set, where it stays if a child just
// forked on another thread holds it too.
void unwatch(Descriptor* descriptor) { const UniqueFd closed(descriptor->release()); }

LineSplitter::Options stderr_options(const ChildSpec& spec) {
  return {
      .line_max_bytes = spec.stderr_line_max_bytes,
      .total_max_bytes = spec.stderr_max_bytes,
      .overlong = LineSplitter::Overlong::cut,
      .truncation_notice = fmt::format("output truncated after {} bytes", spec.stderr_max_bytes)};
}

LineSplitter::Options control_options(const ChildSpec& spec) {
  return {.line_max_bytes = spec.control_line_max_bytes,
          .total_max_bytes = spec.control_max_bytes,
          .overlong = LineSplitter::Overlong::drop,
          .truncation_notice = {}};
}

// Run: one started process until its result. Everything happens on one strand. Shared, because a
// cancel from another thread is posted to that strand and may arrive when the result is out.
class Run final : public std::enable_shared_from_this<Run> {
 public:
  Run(const Executor& strand, const ChildSpec& spec, Process process, LineSink on_stderr_line,
      LineSink on_control_line)
      : strand_(strand),
        process_(std::move(process)),
        kill_grace_(std::min(spec.kill_grace, kLongest)),
        stdout_max_bytes_(spec.stdout_max_bytes),
        exit_(strand),
        stdout_(strand),
        stderr_(strand),
        control_(strand),
        deadline_(strand),
        kill_(strand, steady_clock::time_point::max()),
        stderr_lines_(stderr_options(spec), std::move(on_stderr_line)),
        control_lines_(control_options(spec), std::move(on_control_line)) {
    deadline_.expires_after(std::min(spec.timeout, kLongest));
  }

  Task<ChildResult> finish(CancelToken cancel) {
    using namespace asio::experimental::awaitable_operators;
    MR_CO_TRY_VOID(watch(exit_, process_.take_pidfd()));
    MR_CO_TRY_VOID(watch(stdout_, process_.take_stdout()));
    MR_CO_TRY_VOID(watch(stderr_, process_.take_stderr()));
    MR_CO_TRY_VOID(watch(control_, process_.take_control()));
    const CancelCallback on_cancel(cancel, [strand = strand_, weak = weak_from_this()] {
      asio::post(strand, [weak] {
        if (const auto self = weak.lock()) self->cancel();
      });
    });

    co_await (wait_for_exit() && enforce_deadline() && enforce_kill() && read_stdout() &&
              read_lines(&stderr_, &stderr_lines_) && read_lines(&control_, &control_lines_));

    MR_CO_TRY(const Ending ending, std::move(ending_));
    result_.exit_code = ending.exit_code;
    result_.signal = ending.signal;
    result_.stderr_truncated = stderr_lines_.truncated();
    result_.control_truncated = control_lines_.truncated();
    co_return std::move(result_);
  }

 private:
  awaitable<void> wait_for_exit() {
    // Asked again, because Asio wakes waiters for nothing when a descriptor is closed that another
    // child, forked on another thread, still holds. A wait that fails would leave a process nobody
    // watches; reap() kills it then.
    while (!process_.has_ended()) {
      const auto [error] = co_await exit_.async_wait(Descriptor::wait_read, kAsTuple);
      if (error) break;
    }
    unwatch(&exit_);
    ending_ = process_.reap();
    ended_ = true;
    deadline_.cancel();
    kill_.cancel();
    // A process outside the group may hold the pipes open for ever: the readers take what is there.
    for (Descriptor* pipe : {&stdout_, &stderr_, &control_}) {
      boost::system::error_code ignored;
      pipe->cancel(ignored);
    }
  }

  awaitable<void> enforce_deadline() {
    if (ended_) co_return;  // It can be over before anybody waits.
    co_await deadline_.async_wait(kAsTuple);
    if (ended_ || terminating_) co_return;
    result_.timed_out = true;
    terminate();
  }

  awaitable<void> enforce_kill() {
    while (!ended_) {
      const auto [error] = co_await kill_.async_wait(kAsTuple);
      if (ended_) co_return;
      if (error) continue;  // terminate() has set the time.
      process_.send_signal(SIGKILL);
      co_return;
    }
  }

  void cancel() {
    if (ended_ || terminating_) return;  // The first cause is the one to report.
    result_.cancelled = true;
    terminate();
  }

  void terminate() {
    if (std::exchange(terminating_, true)) return;
    process_.send_signal(SIGTERM);
    process_.send_signal(SIGCONT);  // A stopped process could not react.
    kill_.expires_after(kill_grace_);
  }

  awaitable<void> read_stdout() {
    return read_all(&stdout_, [this](std::string_view bytes) { take_stdout(bytes); });
  }

  awaitable<void> read_lines(Descriptor* pipe, LineSplitter* lines) {
    co_await read_all(pipe, [lines](std::string_view bytes) { lines->feed(bytes); });
    lines->finish();
  }

  // Until the end of the pipe, or until the process has ended and what it wrote is read.
  awaitable<void> read_all(Descriptor* pipe, std::function<void(std::string_view)> take) {
    std::array<char, 16 * 1024> chunk;
    while (!ended_) {
      const auto [error, size] = co_await pipe->async_read_some(asio::buffer(chunk), kAsTuple);
      if (size > 0) take({chunk.data(), size});
      if (error && error != asio::error::operation_aborted) break;
    }
    int left = 0;  // Counted once, so that a process still writing cannot keep us here.
    if (::ioctl(pipe->native_handle(), FIONREAD, &left) != 0) left = 0;
    while (left > 0) {
      const auto want = std::min<std::size_t>(chunk.size(), static_cast<std::size_t>(left));
      const auto size = ::read(pipe->native_handle(), chunk.data(), want);
      if (size <= 0) break;
      take({chunk.data(), static_cast<std::size_t>(size)});
      left -= static_cast<int>(size);
    }
    unwatch(pipe);
  }

  void take_stdout(std::string_view bytes) {
    const std::size_t room = stdout_max_bytes_ - result_.stdout_text.size();
    result_.stdout_text.append(bytes.substr(0, room));
    if (bytes.size() <= room) return;
    result_.output_overflow = true;
    if (!ended_) terminate();  // The result is lost anyway; reading goes on so that it can end.
  }

  Executor strand_;
  Process process_;
  std::chrono::milliseconds kill_grace_;
  std::size_t stdout_max_bytes_;
  Descriptor exit_;  // The pidfd.
  Descriptor stdout_;
  Descriptor stderr_;
  Descriptor control_;
  asio::steady_timer deadline_;
  asio::steady_timer kill_;  // Never, until terminate().
  LineSplitter stderr_lines_;
  LineSplitter control_lines_;
  ChildResult result_;
  Result<Ending> ending_;
  bool terminating_ = false;
  bool ended_ = false;
};

Task<ChildResult> run_on(Executor strand, ChildSpec spec, LineSink on_stderr_line,
                         LineSink on_control_line, CancelToken cancel) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (cancel.cancelled()) co_return ChildResult{.cancelled = true};
  MR_CO_TRY(auto process, Process::start(spec));
  const auto run = std::make_shared<Run>(strand, spec, std::move(process),
                                         std::move(on_stderr_line), std::move(on_control_line));
  co_return co_await run->finish(std::move(cancel));
}

}  // namespace

Task<ChildResult> Child::run(Executor executor, ChildSpec spec, LineSink on_stderr_line,
                             LineSink on_control_line, CancelToken cancel) {
  const Executor strand = asio::make_strand(executor);
  co_return co_await asio::co_spawn(strand,
                                    run_on(strand, std::move(spec), std::move(on_stderr_line),
                                           std::move(on_control_line), std::move(cancel)),
                                    asio::use_awaitable);
}

}  // namespace millrace::sandbox
