// OtlpExporter: brings spans to a collector, as OTLP over HTTP in JSON.
//
// Flow: offer() puts a span into a bounded queue from any thread; every `interval`, or when a batch
// is full, the queue goes out in batches. A collector that is busy or away (429, 502, 503, 504, no
// connection) is asked again a few times, by its Retry-After where it gives one; meanwhile the
// queue fills up and further spans are dropped. Nothing that is traced ever waits. Counted in
// millrace_trace_spans_total{result}: exported, dropped (the queue was full), failed (the collector
// did not take them).
// Threading: offer() and samples() from any thread; the rest on the executor, which one thread
// runs. Lifetime: everything handed in outlives it; stop() must have returned before it goes away.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/spawn.h"
#include "base/task.h"
#include "http/client.h"
#include "http/span.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::http {

struct OtlpOptions {
  std::string url;  // "http://127.0.0.1:4318": /v1/traces is added where there is no path.
  std::vector<Header> headers = {};  // For the collector only; may hold its credentials.
  double sample_ratio = 1;           // Of the traces that we decide about, 0 to 1.
  bool trust_callers = true;         // A caller's traceparent decides about its own trace.
  std::string service_name = "millrace";
  std::string service_version = {};
  std::string instance_id = {};  // Of this process.
  std::size_t queue_max = 8192;
  std::size_t batch_max = 512;
  std::chrono::milliseconds interval{1'000};
  std::chrono::milliseconds request_timeout{10'000};
  std::chrono::milliseconds retry_first{500};  // Doubled each time.
  int attempts_max = 4;
  std::chrono::milliseconds stop_timeout{3'000};  // For what is left when the process ends.
};

// invalid_argument says what is wrong; never a header's value.
Result<void> check_otlp_options(const OtlpOptions& options);
// "name=value,other=value" as OTEL_EXPORTER_OTLP_HEADERS has it.
Result<std::vector<Header>> parse_otlp_headers(const Secret<std::string>& text);
// Where traces go: the URL itself if it has a path, else with /v1/traces.
std::string otlp_traces_url(std::string_view url);
// The body of one request.
std::string otlp_json(const OtlpOptions& options, const std::vector<Span>& spans);

class OtlpExporter final : public Tracer {
 public:
  struct Services {
    Executor executor;
    Client& client;
    Clock& clock;
    Random& random;
    Logger& log;
    MetricRegistry& metrics;
  };

  OtlpExporter(Services services, OtlpOptions options);
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  bool samples(const TraceContext& trace) const override;
  void offer(Span span) override;

  void start();
  // Sends what is there within stop_timeout; what is left then is dropped. Safe twice and before
  // start().
  awaitable<void> stop();

 private:
  enum class Verdict { taken, again, refused };
  struct Answer {
    Verdict verdict = Verdict::refused;
    std::size_t rejected = 0;
    std::chrono::milliseconds wait{0};  // What the collector asked for.
    std::string error;
  };

  awaitable<void> run();
  awaitable<void> deliver(std::vector<Span> batch);
  awaitable<Answer> send(std::string body);
  std::vector<Span> take_batch();
  Request request_with(std::string body) const;

  Executor executor_;
  Client& client_;
  Clock& clock_;
  Random& random_;
  Logger& log_;
  OtlpOptions options_;
  Counter& exported_;
  Counter& dropped_;
  Counter& failed_;

  std::mutex mutex_;  // Guards queue_.
  std::deque<Span> queue_;
  Event wake_;        // A batch is full, or it is time to stop.
  Event stopping_;    // Set under mutex_: from then on nothing is queued.
  CancelSource cut_;  // The time for the last batches is over.
  bool complained_ = false;
  TaskGroup tasks_;
};

}  // namespace millrace::http
