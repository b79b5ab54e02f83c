#include "api/server_metrics.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::api {
namespace {

// "2xx": five classes instead of sixty numbers.
constexpr std::array<std::string_view, 7> kClasses = {"none", "1xx", "2xx",  "3xx",
                                                      "4xx",  "5xx", "other"};

std::size_t status_class(int status) {
  return std::min(static_cast<std::size_t>(status) / 100, kClasses.size() - 1);
}

}  // namespace

struct ServerMetrics::RouteCounts {
  std::string method;
  std::string route;
  Histogram& durations;
  std::array<std::atomic<Counter*>, kClasses.size()> requests{};  // Null: none of that class yet.
};

ServerMetrics::ServerMetrics(MetricRegistry& registry)
    : requests_(registry.family({.name = "millrace_http_requests_total",
                                 .help = "Requests that were answered or refused.",
                                 .labels = {"method", "route", "status"}})),
      durations_(registry.family({.name = "millrace_http_request_duration_seconds",
                                  .help = "From the complete head to the end of the answer.",
                                  .kind = MetricKind::histogram,
                                  .labels = {"route"},
                                  .bounds = latency_bounds_s()})),
      received_(registry
                    .family({.name = "millrace_http_received_bytes_total",
                             .help = "Bytes of request bodies."})
                    .counter()),
      sent_(registry
                .family(
                    {.name = "millrace_http_sent_bytes_total", .help = "Bytes of answers' bodies."})
                .counter()),
      refusals_(registry.family({.name = "millrace_auth_failures_total",
                                 .help = "Requests whose credentials were refused, by reason.",
                                 .labels = {"reason"}})),
      rate_limited_(registry.family({.name = "millrace_http_rate_limited_total",
                                     .help = "Requests refused because their tenant asks too "
                                             "often."})),
      errors_(registry.family({.name = "millrace_http_errors_total",
                               .help = "Requests that failed here, by kind of error.",
                               .labels = {"kind"}})),
      connections_(registry.family({.name = "millrace_http_connections",
                                    .help = "Open connections.",
                                    .kind = MetricKind::gauge})) {}

ServerMetrics::~ServerMetrics() {
  for (auto& place : routes_) delete place.load();
}

// Null: another route lies there.
ServerMetrics::RouteCounts* ServerMetrics::counts_of(std::string_view method,
                                                     std::string_view route) {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15U;
  const auto address = reinterpret_cast<std::uintptr_t>(route.data()) + method.size();
  auto& place = routes_[(address * kSpread >> 32U) % kPlaces];
  auto* known = place.load(std::memory_order_acquire);
  if (known == nullptr) {
    std::unique_ptr<RouteCounts> made(new RouteCounts{.method = std::string(method),
                                                      .route = std::string(route),
                                                      .durations = durations_.histogram({route})});
    if (place.compare_exchange_strong(known, made.get())) known = made.release();
  }
  return known->method == method && known->route == route ? known : nullptr;
}

void ServerMetrics::note_request(const http::AccessRecord& record) {
  const auto route = record.route.empty() ? std::string_view("none") : record.route;
  // Methods are a short list once a route was found; before that they are the client's words.
  const auto method = record.route.empty() ? std::string_view("any") : record.method;
  const auto status = status_class(record.status);
  const auto seconds = std::chrono::duration<double>(record.duration).count();
  if (auto* counts = counts_of(method, route)) {
    auto* requests = counts->requests[status].load(std::memory_order_acquire);
    if (requests == nullptr) {
      requests = &requests_.counter({method, route, kClasses[status]});
      counts->requests[status].store(requests, std::memory_order_release);
    }
    requests->add();
    counts->durations.observe(seconds);
  } else {
    requests_.counter({method, route, kClasses[status]}).add();
    durations_.histogram({route}).observe(seconds);
  }
  received_.add(static_cast<double>(record.received_bytes));
  sent_.add(static_cast<double>(record.sent_bytes));
}

void ServerMetrics::count_refusal(std::string_view reason) { refusals_.counter({reason}).add(); }

void ServerMetrics::count_error(std::string_view kind) { errors_.counter({kind}).add(); }

void ServerMetrics::set_connections(std::size_t connections) {
  connections_.gauge().set(static_cast<double>(connections));
}

StageMetrics::StageMetrics(MetricRegistry& registry)
    : durations(registry.family({.name = "processing_stage_duration_seconds",
                                 .help = "Run time of a stage.",
                                 .kind = MetricKind::histogram,
                                 .labels = {"stage", "status"},
                                 .bounds = work_bounds_s()})),
      errors(registry.family({.name = "processing_stage_errors_total",
                              .help = "Stages that failed.",
                              .labels = {"stage", "error_type"}})),
      external_calls(registry.family({.name = "external_api_calls_total",
                                      .help = "Calls of outside services.",
                                      .labels = {"service", "status"}})),
      costs(registry.family({.name = "processing_costs_total",
                             .help = "What stages say that outside services cost, in cents.",
                             .labels = {"service"}})) {}

}  // namespace millrace::api
