#include "app/observe/run_telemetry.h"

#include "base/json.h"
#include "http/server_trace.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {
namespace {

constexpr std::size_t kSeriesMax = 1000;
constexpr std::string_view kLeaseLost = "lease_lost";
constexpr std::string_view kCosts = "\"costs\"";
constexpr JsonLimits kResultLimits{.max_bytes = 256 * 1024, .max_depth = 128};

double seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// From a millisecond, which is much for an empty handler, to an hour.
std::vector<double> run_bounds_s() {
  return {0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600};
}

std::string_view outcome_of(const worker::RunEnd& end) {
  return end.outcome == nullptr ? kLeaseLost : to_string(end.outcome->kind);
}

bool is_failure(const worker::RunEnd& end) {
  using Kind = Outcome::Kind;
  if (end.outcome == nullptr) return true;
  return end.outcome->kind == Kind::retry || end.outcome->kind == Kind::permanent;
}

std::string error_type(const worker::RunEnd& end) {
  if (end.outcome == nullptr) return std::string(kLeaseLost);
  const auto error = parse_json_object(end.outcome->error_json);
  if (!error) return "unknown";
  const auto* type = error->if_contains("error_type");
  return type != nullptr && type->is_string() ? std::string(type->get_string()) : "unknown";
}

// {"costs": {"<service>": <cents>}} of a result. A run that is repeated was paid for twice.
void count_costs(std::string_view result_json, MetricFamily& costs) {
  const auto result = parse_json_object(result_json, kResultLimits);
  const auto* named = result ? result->if_contains("costs") : nullptr;
  const auto* services = named != nullptr ? named->if_object() : nullptr;
  if (services == nullptr) return;
  for (const auto& service : *services) {
    boost::system::error_code error;
    const auto cents = service.value().to_number<double>(error);
    if (!error && cents > 0 && std::isfinite(cents)) {
      const std::string name(service.key());
      costs.counter({name}).add(cents);
    }
  }
}

std::vector<LogField> attributes_of(const worker::RunEnd& end) {
  const auto& job = end.job;
  std::vector<LogField> out{
      {"messaging.system", "millrace"},          {"messaging.operation.type", "process"},
      {"messaging.destination.name", job.queue}, {"messaging.message.id", job.id},
      {"millrace.job_type", job.job_type},       {"millrace.tenant_id", job.tenant},
      {"millrace.attempt", job.attempt},         {"millrace.delivery", job.delivery_count},
      {"millrace.outcome", outcome_of(end)}};
  if (!job.stage.empty()) out.push_back({"millrace.stage", job.stage});
  if (!job.correlation_id.empty()) out.push_back({"millrace.cid", job.correlation_id});
  return out;
}

}  // namespace

std::optional<Clock::Wall> made_at(const JobId& id) {
  const auto& bytes = id.value.bytes;
  if (bytes[6] >> 4U != 7) return std::nullopt;
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i) ms = ms << 8U | bytes[i];
  return Clock::Wall(std::chrono::milliseconds(ms));
}

RunTelemetry::RunTelemetry(MetricRegistry& registry, http::Tracer* tracer, const Clock& clock,
                           Random& random)
    : tracer_(tracer),
      clock_(clock),
      random_(random),
      running_(registry
                   .family({.name = "millrace_worker_running_jobs",
                            .help = "Jobs whose handlers run in this process now.",
                            .kind = MetricKind::gauge})
                   .gauge()),
      runs_(registry.family({.name = "millrace_job_run_seconds",
                             .help = "Run time of handlers in this process.",
                             .kind = MetricKind::histogram,
                             .labels = {"queue", "job_type", "outcome"},
                             .bounds = run_bounds_s()})),
      latencies_(registry.family(
          {.name = "millrace_job_latency_seconds",
           .help = "From the enqueueing of a job to the end of the run that completed it.",
           .kind = MetricKind::histogram,
           .labels = {"queue"},
           .bounds = run_bounds_s()})),
      stages_(registry) {
  auto& answers = registry.family({.name = "millrace_job_settlements_total",
                                   .help = "Outcomes by what the fence said to them; lease_lost: "
                                           "it came too late and changed nothing.",
                                   .labels = {"answer"}});
  for (std::size_t i = 0; i < kAnswers; ++i) {
    answers_[i] = &answers.counter({to_string(static_cast<Answer>(i))});
  }
}

std::optional<std::string> RunTelemetry::begin_run(const ClaimedJob& job) {
  running_.add(1);
  if (tracer_ == nullptr) return std::nullopt;
  const auto carried = job.traceparent.empty() ? std::optional<std::string_view>()
                                               : std::optional<std::string_view>(job.traceparent);
  // Most jobs of a trace that nobody wants are known by its flags, without asking for chance.
  const auto known = carried ? http::parse_traceparent(*carried) : std::nullopt;
  if (known && !tracer_->samples(*known)) return std::nullopt;
  auto trace = http::make_trace(carried, random_);
  if (!tracer_->samples(trace)) return std::nullopt;
  trace.flags |= 1U;
  return trace.traceparent();
}

void RunTelemetry::end_run(const worker::RunEnd& end) {
  running_.add(-1);
  count(end);
  if (!end.job.stage.empty()) count_stage(end);
  if (end.came_with) trace(end);
}

void RunTelemetry::settled(Answer answer) { answers_[static_cast<std::size_t>(answer)]->add(); }

RunTelemetry::Series& RunTelemetry::series_of(const ClaimedJob& job) {
  if (last_ != nullptr && last_->first.second == job.job_type && last_->first.first == job.queue) {
    return last_->second;
  }
  if (series_.size() >= kSeriesMax) series_.clear();  // They are found again where they were.
  last_ = &*series_.try_emplace(Key(job.queue, job.job_type)).first;
  return last_->second;
}

void RunTelemetry::count(const worker::RunEnd& end) {
  auto& series = series_of(end.job);
  const auto index =
      end.outcome == nullptr ? kEnds - 1 : static_cast<std::size_t>(end.outcome->kind);
  auto& runs = series.runs[index];
  if (runs == nullptr) {
    runs = &runs_.histogram({end.job.queue, end.job.job_type, outcome_of(end)});
  }
  runs->observe(seconds(end.took));
  if (end.outcome == nullptr || !end.outcome->succeeded() || end.job.generation > 1) return;
  const auto made = made_at(end.job.id);
  if (!made) return;
  if (series.latency == nullptr) series.latency = &latencies_.histogram({end.job.queue});
  // Clocks of two machines may differ by a little.
  const auto latency = std::max(clock_.wall() - *made, Clock::Wall::duration(0));
  series.latency->observe(std::chrono::duration<double>(latency).count());
}

void RunTelemetry::count_stage(const worker::RunEnd& end) {
  stages_.durations.histogram({end.job.stage, outcome_of(end)}).observe(seconds(end.took));
  if (is_failure(end)) stages_.errors.counter({end.job.stage, error_type(end)}).add();
  if (end.outcome != nullptr && end.outcome->result_json.contains(kCosts)) {
    count_costs(end.outcome->result_json, stages_.costs);
  }
}

// The job's traceparent is that of the run by now: its trace and, in the place of the parent, the
// span that begin_run chose.
void RunTelemetry::trace(const worker::RunEnd& end) {
  const auto own = http::parse_traceparent(end.job.traceparent);
  if (!own) return;
  http::Span span;
  span.trace_id = own->trace_id;
  span.span_id = own->parent_id;
  if (const auto before = http::parse_traceparent(*end.came_with)) {
    span.parent_id = before->parent_id;
  }
  span.name = fmt::format("run {}", end.job.job_type);
  span.kind = http::SpanKind::consumer;
  span.ended = clock_.wall();
  span.began = span.ended - std::chrono::duration_cast<Clock::Wall::duration>(end.took);
  span.attributes = attributes_of(end);
  if (is_failure(end)) span.error = outcome_of(end);
  tracer_->offer(std::move(span));
}

}  // namespace millrace::app
