#include "api/trace/request_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::api {
namespace {

struct Noted {
  std::string_view field;      // In the access log.
  std::string_view attribute;  // In the span.
};
constexpr std::array kNoted{Noted{"tenant_id", "millrace.tenant_id"},
                            Noted{"job_id", "millrace.job_id"},
                            Noted{"batch_id", "millrace.batch_id"}, Noted{"jobs", "millrace.jobs"},
                            Noted{"role", "millrace.role"}};

void take_over(const std::vector<LogField>& fields, std::vector<LogField>& attributes) {
  for (const auto& field : fields) {
    const auto* known = std::ranges::find(kNoted, std::string_view(field.key), &Noted::field);
    if (known != kNoted.end()) attributes.push_back({std::string(known->attribute), field.value});
  }
}

// What our own side is to blame for; a refusal is a good answer.
std::string error_of(const http::AccessRecord& record) {
  if (record.cut) return "cut";
  if (record.status >= 500) return fmt::format("{}", record.status);
  return {};
}

}  // namespace

http::Span request_span(const http::AccessRecord& record, Clock::Wall now) {
  http::Span span;
  span.trace_id = record.trace->trace_id;
  span.span_id = record.trace->span_id;
  span.parent_id = record.trace->parent_id;
  span.name = record.route.empty() ? std::string(record.method)
                                   : fmt::format("{} {}", record.method, record.route);
  span.kind = http::SpanKind::server;
  span.ended = now;
  span.began = now - std::chrono::duration_cast<Clock::Wall::duration>(record.duration);
  auto& attributes = span.attributes;
  attributes.push_back({"http.request.method", record.method});
  if (!record.route.empty()) attributes.push_back({"http.route", record.route});
  attributes.push_back({"http.response.status_code", record.status});
  attributes.push_back({"http.request.body.size", record.received_bytes});
  attributes.push_back({"http.response.body.size", record.sent_bytes});
  attributes.push_back({"millrace.cid", record.correlation_id});
  if (record.fields != nullptr) take_over(*record.fields, attributes);
  span.error = error_of(record);
  return span;
}

void trace_request(http::Tracer& tracer, const http::AccessRecord& record, Clock::Wall now) {
  if (record.trace == nullptr || !tracer.samples(*record.trace)) return;
  tracer.offer(request_span(record, now));
}

}  // namespace millrace::api
