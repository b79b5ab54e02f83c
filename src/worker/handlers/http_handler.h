// HttpHandler: POSTs each job to an endpoint and reads the outcome from the answer.
//
// Body: the job as JSON. Headers: x-correlation-id, Idempotency-Key (the same for every delivery of
// one generation of the job), X-Millrace-Deadline (RFC 3339) and X-Millrace-Timeout-Ms, and
// traceparent when the job has one. The endpoint is told the job's run timeout; we wait a tenth
// longer, so that its own limit ends first (D13).
#pragma once

#include "http/client.h"
#include "worker/handler.h"
#include "worker/handlers/http_outcome.h"

#include <chrono>
#include <string>
#include <vector>

namespace millrace::worker {

struct HttpOptions {
  std::string url;
  std::vector<http::Header> headers;  // Added to every request, for instance authorization.
  std::chrono::milliseconds connect_timeout{10'000};
  std::size_t result_max_bytes = kHttpResultMaxBytes;
};

// Sends `body` for the job and reads the outcome from the answer. `client` outlives the call.
awaitable<Outcome> post_job(http::Client& client, std::shared_ptr<JobContext> context,
                            HttpOptions options, std::string body);

class HttpHandler final : public Handler {
 public:
  // `client` outlives the handler.
  HttpHandler(http::Client& client, HttpOptions options)
      : client_(client), options_(std::move(options)) {}

  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;
  std::chrono::milliseconds wait_limit(std::chrono::milliseconds run_timeout) const override;

 private:
  http::Client& client_;
  HttpOptions options_;
};

// What is sent for a job: by itself, or with a body of its own.
http::Request http_request(const ClaimedJob& job, const HttpOptions& options,
                           std::chrono::milliseconds run_timeout,
                           std::chrono::system_clock::time_point now, std::string body);
http::Request http_request(const ClaimedJob& job, const HttpOptions& options,
                           std::chrono::milliseconds run_timeout,
                           std::chrono::system_clock::time_point now);

}  // namespace millrace::worker
