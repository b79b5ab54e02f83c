// RunTelemetry: what metrics and traces are told of the runs of this process's worker.
//
// Flow: the dispatcher tells of every run; counts and times go into the process's registry, spans
// of sampled traces to the tracer. A run's span continues the trace that the job carries (that of
// the request which enqueued it), so that a trace shows a job from its request to its last attempt;
// what the handler calls becomes a child of the run. Threading: the runtime's executor. Lifetime:
// registry, tracer, clock and random outlive it.
#pragma once

#include "api/server_metrics.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "http/span.h"
#include "worker/run_watch.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace millrace::app {

class RunTelemetry final : public worker::RunWatch {
 public:
  RunTelemetry(MetricRegistry& registry, http::Tracer* tracer, const Clock& clock, Random& random);

  std::optional<std::string> begin_run(const ClaimedJob& job) override;
  void end_run(const worker::RunEnd& end) override;
  void settled(Answer answer) override;

 private:
  // Outcomes, and the lease that was lost.
  static constexpr std::size_t kEnds = 9;
  static constexpr std::size_t kAnswers = 6;
  // The series of one queue and type, found once.
  struct Series {
    std::array<Histogram*, kEnds> runs{};
    Histogram* latency = nullptr;
  };
  using Key = std::pair<std::string, std::string>;

  Series& series_of(const ClaimedJob& job);
  void count(const worker::RunEnd& end);
  void count_stage(const worker::RunEnd& end);
  void trace(const worker::RunEnd& end);

  http::Tracer* tracer_;
  const Clock& clock_;
  Random& random_;
  Gauge& running_;
  MetricFamily& runs_;
  MetricFamily& latencies_;
  std::array<Counter*, kAnswers> answers_{};
  api::StageMetrics stages_;
  std::map<Key, Series> series_;
  std::map<Key, Series>::value_type* last_ = nullptr;  // Most jobs are of the same kind as before.
};

// When the job was made, by its id (a uuid of version 7); nothing for an id of another kind.
std::optional<Clock::Wall> made_at(const JobId& id);

}  // namespace millrace::app
