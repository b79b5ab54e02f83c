#include "worker/handlers/http_handler.h"

#include "base/fault.h"
#include "model/job_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <utility>

namespace millrace::worker {
namespace {

using std::chrono::milliseconds;

milliseconds a_tenth_longer(milliseconds duration) {
  return duration + duration / 10 + milliseconds(1);
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), ms % 1000);
}

// Ids come from producers; a control character would make the request unsendable.
std::string header_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) result += c;
  }
  return result;
}

}  // namespace

http::Request http_request(const ClaimedJob& job, const HttpOptions& options,
                           milliseconds run_timeout, std::chrono::system_clock::time_point now) {
  return http_request(job, options, run_timeout, now, job_json(job));
}

http::Request http_request(const ClaimedJob& job, const HttpOptions& options,
                           milliseconds run_timeout, std::chrono::system_clock::time_point now,
                           std::string body) {
  http::Request request;
  request.method = "POST";
  request.url = options.url;
  request.headers = options.headers;
  const auto correlation =
      job.correlation_id.empty() ? job.id.to_string() : header_text(job.correlation_id);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("x-correlation-id", correlation);
  request.headers.emplace_back("Idempotency-Key", idempotency_key(job));
  request.headers.emplace_back("X-Millrace-Deadline", rfc3339(now + run_timeout));
  request.headers.emplace_back("X-Millrace-Timeout-Ms", std::to_string(run_timeout.count()));
  if (!job.traceparent.empty()) {
    request.headers.emplace_back("traceparent", header_text(job.traceparent));
  }
  request.body = std::move(body);
  request.connect_timeout = std::min(options.connect_timeout, run_timeout);
  request.total_timeout = a_tenth_longer(run_timeout);
  request.response_max_bytes = options.result_max_bytes + 1;
  request.service = fmt::format("http:{}", job.job_type);
  return request;
}

milliseconds HttpHandler::wait_limit(milliseconds run_timeout) const {
  return a_tenth_longer(a_tenth_longer(run_timeout));
}

awaitable<Outcome> HttpHandler::run(std::shared_ptr<JobContext> context) {
  auto body = job_json(context->job());
  return post_job(client_, std::move(context), options_, std::move(body));
}

awaitable<Outcome> post_job(http::Client& client, std::shared_ptr<JobContext> context,
                            HttpOptions options, std::string body) {
  auto request = http_request(context->job(), options, context->run_timeout(),
                              context->clock().wall(), std::move(body));
  if (fault::reach("http.before") == fault::Effect::error) {
    co_return http_outcome(fault::injected("http.before"));
  }
  auto response = co_await client.send(std::move(request), context->token());
  // The other side has done its work; whether we learn of it is another matter.
  if (fault::reach("http.after") == fault::Effect::error) {
    co_return http_outcome(fault::injected("http.after"));
  }
  if (!response.has_value()) co_return http_outcome(response.error());
  co_return http_outcome(*response, context->clock().wall(), options.result_max_bytes);
}

}  // namespace millrace::worker
