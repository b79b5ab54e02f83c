// TaskRun: one task in the worker, from the start message to its result.
//
// Flow: the pool tells it what the zygote says (started, ended, lost); finish() reads the frames,
// holds them and the clock to the limits, kills the child by its pidfd when it must, and ends when
// the child is gone. Threading: everything on one strand. Lifetime: shared by the pool's table and
// by cancels that are posted to the strand.
#pragma once

#include "base/cancel.h"
#include "base/event.h"
#include "base/task.h"
#include "sandbox/frame.h"
#include "sandbox/task_spec.h"
#include "sandbox/task_verdict.h"
#include "sandbox/task_wire.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millrace::sandbox {

class TaskRun : public std::enable_shared_from_this<TaskRun> {
 public:
  struct Parts {
    TaskLimits limits;
    std::uint64_t warm_rss_bytes;
    ByteSink on_output;
    ProgressSink on_progress;
    std::function<void()> on_stuck;  // The zygote does not report the end of a killed child.
  };
  TaskRun(const Executor& strand, Parts parts);

  Result<void> watch(UniqueFd pipe);  // The read end, non-blocking.
  Task<TaskResult> finish(CancelToken cancel);

  void started(UniqueFd pidfd);
  void ended(const WireMessage& message);
  void cannot_confine(std::string reason);
  void lost(Error error);  // There is no child, or nobody to tell how it ends.
  void stop(TaskStop stop);

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  using Steady = std::chrono::steady_clock;

  awaitable<void> read_frames();
  awaitable<bool> take(std::string_view bytes);  // False: enough.
  awaitable<void> enforce_times();
  void on_time();
  void kill();
  void finish_waiting();
  TaskFacts facts();

  Executor strand_;
  Parts parts_;
  FrameReader reader_;
  Descriptor pipe_;
  UniqueFd pidfd_;
  boost::asio::steady_timer timer_;
  Steady::time_point begun_;
  Steady::time_point wall_end_;
  std::optional<TaskStop> stop_;
  std::optional<Error> error_;
  std::exception_ptr thrown_;  // By a sink.
  std::optional<WireMessage> ending_;
  Event over_;  // Ended or lost.
  bool killed_ = false;
  bool pipe_closed_ = false;
};

}  // namespace millrace::sandbox
