#include "sandbox/task_run.h"

#include "sandbox/run_delay.h"
#include "sandbox/task_child.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::sandbox {
namespace {

namespace asio = boost::asio;
using End = TaskResult::End;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kLongest = std::chrono::years(1);
// A child that has closed its pipe is about to exit; one that stays has something to hide. On a
// busy machine seconds pass between the two ends of a crash.
constexpr auto kLingerMax = std::chrono::seconds(5);
// From SIGKILL to the zygote's word that the child is gone.
constexpr auto kReapMax = std::chrono::seconds(10);
constexpr std::size_t kChunkBytes = 64 * 1024;

}  // namespace

TaskRun::TaskRun(const Executor& strand, Parts parts)
    : strand_(strand),
      parts_(std::move(parts)),
      reader_({.result_max_bytes = parts_.limits.result_max_bytes,
               .output_max_bytes = parts_.limits.output_max_bytes}),
      pipe_(strand),
      timer_(strand),
      begun_(Steady::now()),
      wall_end_(begun_ + std::min(parts_.limits.wall, kLongest)) {
  timer_.expires_at(wall_end_);
}

Result<void> TaskRun::watch(UniqueFd pipe) {
  boost::system::error_code error;
  pipe_.assign(pipe.get(), error);
  if (error) {
    return fail(ErrorKind::unavailable, fmt::format("cannot watch a task: {}", error.message()));
  }
  static_cast<void>(pipe.release());
  return ok();
}

Task<TaskResult> TaskRun::finish(CancelToken cancel) {
  using namespace asio::experimental::awaitable_operators;
  const CancelCallback on_cancel(cancel, [strand = strand_, weak = weak_from_this(), &cancel] {
    asio::post(strand, [weak, reason = cancel.reason()] {
      const auto self = weak.lock();
      if (self) self->stop({End::cancelled, "cancelled", printable(reason, kTaskMessageMaxBytes)});
    });
  });
  co_await (read_frames() && enforce_times());
  if (thrown_) std::rethrow_exception(thrown_);
  if (error_) co_return fail(*std::move(error_));
  co_return judge(facts());
}

TaskFacts TaskRun::facts() {
  TaskFacts facts{.limits = parts_.limits,
                  .said = reader_.take_said(),
                  .stop = std::move(stop_),
                  .warm_rss_bytes = parts_.warm_rss_bytes};
  if (!ending_) return facts;
  facts.peak_rss_bytes = ending_->peak_rss_bytes;
  facts.cpu_time = std::chrono::microseconds(ending_->cpu_us);
  facts.ran_out = ending_->ran_out != 0;
  // Killed for nothing but not going after its answer.
  if (!killed_ || facts.stop) facts.wait_status = ending_->wait_status;
  // Half a frame is a lie of one that ends by itself; of one that crashed its death says more.
  const bool left_by_itself = WIFEXITED(facts.wait_status) && !facts.said.forbidden_call &&
                              WEXITSTATUS(facts.wait_status) != kForbiddenExit;
  if (!facts.stop && left_by_itself) facts.stop = stop_for(reader_);
  return facts;
}

void TaskRun::started(UniqueFd pidfd) {
  pidfd_ = std::move(pidfd);
  if (killed_) kill();  // It was too early before.
}

void TaskRun::ended(const WireMessage& message) {
  ending_ = message;
  finish_waiting();
}

void TaskRun::cannot_confine(std::string reason) {
  stop_ = TaskStop{End::cannot_confine, "cannot_confine", printable(reason, kTaskMessageMaxBytes)};
  finish_waiting();
}

void TaskRun::lost(Error error) {
  if (over_.is_set()) return;
  kill();
  if (!error_) error_ = std::move(error);
  finish_waiting();
}

void TaskRun::stop(TaskStop stop) {
  if (over_.is_set() || killed_) return;  // The first cause is the one to report.
  stop_ = std::move(stop);
  kill();
}

void TaskRun::kill() {
  killed_ = true;
  if (pidfd_.valid()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  timer_.expires_after(kReapMax);
  boost::system::error_code ignored;
  if (pipe_.is_open()) pipe_.cancel(ignored);  // Nothing that it says matters any more.
}

void TaskRun::finish_waiting() {
  over_.set();
  timer_.cancel();
  // Nobody else holds the write end of a child that is gone. Without one there may be no end.
  boost::system::error_code ignored;
  if (!ending_ && pipe_.is_open()) pipe_.cancel(ignored);
}

awaitable<void> TaskRun::read_frames() {
  std::vector<char> chunk(kChunkBytes);
  while (!killed_ && (ending_ || !over_.is_set())) {
    const auto [error, size] = co_await pipe_.async_read_some(asio::buffer(chunk), kAsTuple);
    if (size > 0 && !co_await take({chunk.data(), size})) break;
    if (error == asio::error::operation_aborted) continue;
    if (error) break;
  }
  const UniqueFd closed(pipe_.release());
  pipe_closed_ = true;
  if (killed_) co_return;
  reader_.finish();
  if (!over_.is_set()) timer_.expires_at(std::min(wall_end_, Steady::now() + kLingerMax));
}

awaitable<bool> TaskRun::take(std::string_view bytes) {
  std::string_view output;
  for (;;) {
    const auto step = reader_.feed(bytes, output);
    if (auto fault = stop_for(reader_)) {
      if (over_.is_set()) {
        stop_ = std::move(fault);  // Dead already, having written more than it may.
      } else {
        stop(*std::move(fault));
      }
      co_return false;
    }
    try {
      if (step == FrameReader::Step::need_more) co_return true;
      if (step == FrameReader::Step::progress && parts_.on_progress) {
        parts_.on_progress(reader_.said().done, reader_.said().total);
      }
      if (step == FrameReader::Step::output && parts_.on_output) {
        auto taken = co_await parts_.on_output(std::as_bytes(std::span(output)));
        if (!taken.has_value()) error_ = std::move(taken).error();
      }
    } catch (...) {
      thrown_ = std::current_exception();
    }
    if (error_ || thrown_) {
      if (!over_.is_set()) kill();
      co_return false;
    }
    if (killed_) co_return false;
  }
}

awaitable<void> TaskRun::enforce_times() {
  while (!over_.is_set()) {
    co_await timer_.async_wait(kAsTuple);
    // Not by its error: the timer may have been set anew after this wait was over.
    if (!over_.is_set() && Steady::now() >= timer_.expiry()) on_time();
  }
}

void TaskRun::on_time() {
  if (killed_) {
    lost({.kind = ErrorKind::unavailable,
          .message = "the program of the tasks does not report the end of a killed task"});
    return parts_.on_stuck();
  }
  if (!pipe_closed_ || Steady::now() >= wall_end_) {
    // It gives way to others, so a busy machine is no fault of its own. One that sleeps waits for
    // nobody and gets nothing.
    const auto wall = std::min(parts_.limits.wall, kLongest);
    wall_end_ = begun_ + wall_with_delay(wall, run_delay(pidfd_.get()));
    if (Steady::now() < wall_end_) {
      timer_.expires_at(wall_end_);
      return;
    }
    return stop({End::timed_out, "wall_limit",
                 fmt::format("more than {} ms of time", parts_.limits.wall.count())});
  }
  if (reader_.answered()) return kill();  // Its answer is complete; it only does not go.
  stop({End::protocol, "closed_pipe", "closed its pipe and went on"});
}

}  // namespace millrace::sandbox
