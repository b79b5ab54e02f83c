#include "http/otlp.h"

#include "base/either.h"
#include "base/json.h"
#include "http/request_check.h"
#include "http/retry_after.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace millrace::http {
namespace {

using namespace either;
using std::chrono::milliseconds;

constexpr std::size_t kTextMaxBytes = 1024;  // Of one attribute.
constexpr std::size_t kAnswerMaxBytes = 64 * 1024;
constexpr milliseconds kPauseMax{30'000};
constexpr int kErrorStatus = 2;  // STATUS_CODE_ERROR

// Not in the middle of a character.
std::string_view cut_text(std::string_view text) {
  if (text.size() <= kTextMaxBytes) return text;
  auto size = kTextMaxBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size);
}

void append_value(std::string& out, const LogValue& value) {
  std::visit(
      [&out](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) {
          out += v ? R"({"boolValue":true})" : R"({"boolValue":false})";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          out += fmt::format(R"({{"intValue":"{}"}})", v);  // 64 bits are a text in this JSON.
        } else if constexpr (std::is_same_v<T, double>) {
          out += fmt::format(R"({{"doubleValue":{}}})", std::isfinite(v) ? json_number(v) : "0");
        } else {
          out += fmt::format(R"({{"stringValue":{}}})", json_quote(cut_text(v)));
        }
      },
      value.get());
}

void append_attributes(std::string& out, const std::vector<LogField>& attributes) {
  out += R"("attributes":[)";
  bool first = true;
  for (const auto& [key, value] : attributes) {
    if (!std::exchange(first, false)) out += ',';
    out += fmt::format(R"({{"key":{},"value":)", json_quote(key));
    append_value(out, value);
    out += '}';
  }
  out += ']';
}

std::int64_t unix_nanos(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

void append_span(std::string& out, const Span& span) {
  const std::string_view trace_id(span.trace_id.data(), span.trace_id.size());
  const std::string_view span_id(span.span_id.data(), span.span_id.size());
  out += fmt::format(R"({{"traceId":"{}","spanId":"{}",)", trace_id, span_id);
  if (span.parent_id[0] != '\0') {
    const std::string_view parent_id(span.parent_id.data(), span.parent_id.size());
    out += fmt::format(R"("parentSpanId":"{}",)", parent_id);
  }
  out += fmt::format(R"("name":{},"kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}",)",
                     json_quote(span.name), static_cast<int>(span.kind), unix_nanos(span.began),
                     unix_nanos(std::max(span.began, span.ended)));
  append_attributes(out, span.attributes);
  if (!span.error.empty()) {
    out += fmt::format(R"(,"status":{{"code":{},"message":{}}})", kErrorStatus,
                       json_quote(span.error));
  }
  out += '}';
}

// {"partialSuccess":{"rejectedSpans":"3"}}: what the collector took only in part.
std::size_t rejected_spans(const std::string& body) {
  const auto answer = parse_json_object(body);
  if (!answer) return 0;
  const auto* partial = answer->if_contains("partialSuccess");
  if (partial == nullptr || !partial->is_object()) return 0;
  const auto* rejected = partial->get_object().if_contains("rejectedSpans");
  if (rejected == nullptr) return 0;
  if (rejected->is_int64()) {
    return static_cast<std::size_t>(std::max(rejected->get_int64(), std::int64_t{0}));
  }
  if (!rejected->is_string()) return 0;
  const std::string_view text = rejected->get_string();
  std::size_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

bool is_busy(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

std::string trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

MetricFamily& spans_family(MetricRegistry& registry) {
  return registry.family({.name = "millrace_trace_spans_total",
                          .help = "Spans by what became of them: exported, dropped because the "
                                  "queue was full, failed to reach the collector.",
                          .labels = {"result"}});
}

}  // namespace

bool in_sample(const std::array<char, 32>& trace_id, double ratio) {
  if (ratio >= 1) return true;
  if (!(ratio > 0)) return false;
  // The last 56 bits are the random ones, by the trace context's second level.
  constexpr std::size_t kDigits = 14;
  std::uint64_t value = 0;
  const char* end = trace_id.data() + trace_id.size();
  std::from_chars(end - kDigits, end, value, 16);
  const double limit = std::ldexp(1.0, 56) * (1 - ratio);
  return static_cast<double>(value) >= limit;
}

std::string otlp_traces_url(std::string_view url) {
  std::string out(url);
  const auto host = out.find("://");
  const auto path = host == out.npos ? out.npos : out.find_first_of("/?#", host + 3);
  if (path == out.npos) return out + "/v1/traces";
  if (path + 1 == out.size() && out[path] == '/') return out + "v1/traces";
  return out;
}

Result<std::vector<Header>> parse_otlp_headers(const Secret<std::string>& text) {
  std::vector<Header> headers;
  std::string_view rest = text.reveal();
  while (!rest.empty()) {
    const auto entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const auto equals = entry.find('=');
    const auto name = trimmed(entry.substr(0, equals));
    if (equals == entry.npos || name.empty()) {
      return fail(ErrorKind::invalid_argument, "headers are written name=value, with commas");
    }
    headers.emplace_back(name, trimmed(entry.substr(equals + 1)));
  }
  return headers;
}

Result<void> check_otlp_options(const OtlpOptions& options) {
  if (!(options.sample_ratio >= 0 && options.sample_ratio <= 1)) {
    return fail(ErrorKind::invalid_argument, "the ratio of traces must be a number from 0 to 1");
  }
  Request request;
  request.method = "POST";
  request.url = otlp_traces_url(options.url);
  request.headers = options.headers;
  MR_TRY_VOID(check_request(request));
  return ok();
}

std::string otlp_json(const OtlpOptions& options, const std::vector<Span>& spans) {
  std::vector<LogField> resource{{"service.name", options.service_name}};
  if (!options.service_version.empty()) {
    resource.push_back({"service.version", options.service_version});
  }
  if (!options.instance_id.empty()) {
    resource.push_back({"service.instance.id", options.instance_id});
  }
  std::string out = R"({"resourceSpans":[{"resource":{)";
  append_attributes(out, resource);
  out += R"(},"scopeSpans":[{"scope":{"name":"millrace"},"spans":[)";
  bool first = true;
  for (const auto& span : spans) {
    if (!std::exchange(first, false)) out += ',';
    append_span(out, span);
  }
  out += "]}]}]}";
  return out;
}

OtlpExporter::OtlpExporter(Services services, OtlpOptions options)
    : executor_(services.executor),
      client_(services.client),
      clock_(services.clock),
      random_(services.random),
      log_(services.log),
      options_(std::move(options)),
      exported_(spans_family(services.metrics).counter({"exported"})),
      dropped_(spans_family(services.metrics).counter({"dropped"})),
      failed_(spans_family(services.metrics).counter({"failed"})),
      tasks_(executor_, log_) {
  options_.url = otlp_traces_url(options_.url);
}

bool OtlpExporter::samples(const TraceContext& trace) const {
  if (trace.from_caller() && options_.trust_callers) return trace.sampled();
  // Decided here before: a request's span is asked for when it ends.
  if (!trace.from_caller() && trace.sampled()) return true;
  return in_sample(trace.trace_id, options_.sample_ratio);
}

void OtlpExporter::offer(Span span) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= options_.queue_max || stopping_.is_set()) {
      dropped_.add();
      return;
    }
    queue_.push_back(std::move(span));
    full = queue_.size() == options_.batch_max;
  }
  if (full) wake_.set();
}

void OtlpExporter::start() { tasks_.add("otlp", run()); }

awaitable<void> OtlpExporter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.set();
  }
  wake_.set();
  co_await (tasks_.join() || clock_.sleep_for(options_.stop_timeout));
  cut_.cancel("stopping");
  co_await tasks_.join();
  const std::lock_guard lock(mutex_);
  dropped_.add(static_cast<double>(queue_.size()));
  queue_.clear();
}

awaitable<void> OtlpExporter::run() {
  for (bool last = false; !last;) {
    co_await (wake_.wait() || clock_.sleep_for(options_.interval));
    wake_.reset();
    // Read before the queue is: nothing is added once it is set.
    last = stopping_.is_set();
    for (auto batch = take_batch(); !batch.empty(); batch = take_batch()) {
      co_await deliver(std::move(batch));
    }
  }
}

std::vector<Span> OtlpExporter::take_batch() {
  const std::lock_guard lock(mutex_);
  const auto count = std::min(queue_.size(), options_.batch_max);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Span> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

Request OtlpExporter::request_with(std::string body) const {
  Request request;
  request.method = "POST";
  request.url = options_.url;
  request.headers = options_.headers;
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(body);
  request.connect_timeout = options_.request_timeout;
  request.total_timeout = options_.request_timeout;
  request.response_max_bytes = kAnswerMaxBytes;
  return request;
}

awaitable<OtlpExporter::Answer> OtlpExporter::send(std::string body) {
  const auto response = co_await client_.send(request_with(std::move(body)), cut_.token());
  Answer answer;
  if (!response) {
    // Sent and not answered: a span that comes twice is the same span, by its id.
    const bool away = response.error().kind == ErrorKind::unavailable ||
                      response.error().kind == ErrorKind::in_doubt;
    answer.verdict = away ? Verdict::again : Verdict::refused;
    answer.error = response.error().message;
  } else if (response->status >= 200 && response->status < 300) {
    answer.verdict = Verdict::taken;
    answer.rejected = rejected_spans(response->body);
  } else {
    answer.verdict = is_busy(response->status) ? Verdict::again : Verdict::refused;
    answer.error = fmt::format("the collector answered {}", response->status);
    if (const auto asked = response->header("retry-after")) {
      answer.wait = parse_retry_after(*asked, clock_.wall()).value_or(milliseconds(0));
    }
  }
  co_return answer;
}

awaitable<void> OtlpExporter::deliver(std::vector<Span> batch) {
  const auto count = batch.size();
  const auto body = otlp_json(options_, batch);
  batch.clear();
  auto pause = options_.retry_first;
  for (int attempt = 1;; ++attempt) {
    const auto answer = co_await send(body);
    if (answer.verdict == Verdict::taken) {
      const auto rejected = std::min(answer.rejected, count);
      exported_.add(static_cast<double>(count - rejected));
      failed_.add(static_cast<double>(rejected));
      complained_ = false;
      co_return;
    }
    const bool again =
        answer.verdict == Verdict::again && attempt < options_.attempts_max && !stopping_.is_set();
    if (!again) {
      failed_.add(static_cast<double>(count));
      // Once per outage: a collector that is away is not worth a line a second.
      if (!std::exchange(complained_, true)) {
        log_.warn("spans_not_exported", {{"spans", count}, {"error", answer.error}});
      }
      co_return;
    }
    const auto wait = std::min(std::max(random_.jitter(pause, 0.2), answer.wait), kPauseMax);
    pause *= 2;
    co_await (clock_.sleep_for(wait) || stopping_.wait());
  }
}

}  // namespace millrace::http
