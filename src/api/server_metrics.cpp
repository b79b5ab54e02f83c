#include "api/server_metrics.h"

#include <array>
#include <string_view>

namespace millrace::api {
namespace {

// "2xx": five classes instead of sixty numbers.
std::string_view status_class(int status) {
  constexpr std::array<std::string_view, 6> kClasses = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};
  const auto number = static_cast<std::size_t>(status) / 100;
  return number < kClasses.size() ? kClasses[number] : "other";
}

}  // namespace

ServerMetrics::ServerMetrics(MetricRegistry& registry)
    : requests_(registry.family({.name = "millrace_http_requests_total",
                                 .help = "Requests that were answered or refused.",
                                 .labels = {"method", "route", "status"}})),
      durations_(registry.family({.name = "millrace_http_request_duration_seconds",
                                  .help = "From the complete head to the end of the answer.",
                                  .kind = MetricKind::histogram,
                                  .labels = {"route"},
                                  .bounds = latency_bounds_s()})),
      received_(registry.family(
          {.name = "millrace_http_received_bytes_total", .help = "Bytes of request bodies."})),
      sent_(registry.family(
          {.name = "millrace_http_sent_bytes_total", .help = "Bytes of answers' bodies."})),
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

void ServerMetrics::note_request(const http::AccessRecord& record) {
  const auto route = record.route.empty() ? std::string_view("none") : record.route;
  // Methods are a short list once a route was found; before that they are the client's words.
  const auto method = record.route.empty() ? std::string_view("any") : record.method;
  requests_.counter({method, route, status_class(record.status)}).add();
  durations_.histogram({route}).observe(std::chrono::duration<double>(record.duration).count());
  received_.counter().add(static_cast<double>(record.received_bytes));
  sent_.counter().add(static_cast<double>(record.sent_bytes));
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
