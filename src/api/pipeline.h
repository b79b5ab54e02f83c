// Pipeline: what happens to every request between the router and its handler, and back.
//
// Order: who is it (Guard), how much may it ask (rate), is it well-formed (parameters, content
// type, body against its schema), may it be repeated (Idempotency-Key), the handler, and then the
// answer: entity tag, envelope, problem. A request that fails at one step costs nothing of the next
// ones. The server below has already dealt with heads, limits, correlation id and trace.
//
// Threading: any; one object for all connections. Lifetime: guard, limiter, metrics and log outlive
// it, and it outlives the server that has its routes.
#pragma once

#include "api/call.h"
#include "api/guard.h"
#include "api/operation.h"
#include "api/problem.h"
#include "api/server_metrics.h"
#include "base/log.h"
#include "http/rate_limit.h"
#include "http/router.h"
#include "http/server.h"
#include "http/span.h"
#include "store/api/requests.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace::api {

struct PipelineOptions {
  std::uint64_t tenant_requests_per_minute = 60'000;  // 0: not limited.
  std::uint64_t refusals_per_minute = 600;            // Of one address or IPv6 /64; 0: not limited.
  // Of all JSON bodies that are being read or worked on; each takes several times as much memory.
  std::uint64_t bodies_max_bytes = 32 * 1024 * 1024;
};

class Pipeline {
 public:
  struct Parts {
    const Guard& guard;
    http::RateLimiter& limiter;
    ServerMetrics& metrics;
    const Logger& log;
    store::RequestStore* requests = nullptr;  // Without one keys are read and not kept.
    const http::Tracer* tracer = nullptr;     // Without one nothing is traced.
  };

  Pipeline(OperationTable table, Parts parts, PipelineOptions options);

  const OperationTable& table() const { return table_; }
  std::vector<http::Route> routes() const;

  // For ServerOptions: errors that reach the server, and what it refuses by itself.
  void reply_error(const Error& error, const http::ServerRequest& request,
                   http::ResponseWriter& response) const;
  static void reply_refused(const http::Problem& problem, http::ResponseWriter& response);

 private:
  // Nothing: go on.
  using Refused = std::optional<ProblemDetails>;

  Task<void> serve(const CheckedOperation& checked, http::ServerRequest& request,
                   http::ResponseWriter& response) const;
  Task<Refused> admit(Call& call) const;
  Refused let_in(Call& call, Admitted admitted) const;
  Refused check_rate(Call& call, const TenantPolicy& policy) const;
  // The decision against an address whose credentials were bad too often; nothing: go on.
  std::optional<http::RateDecision> over_refusals(const http::ServerRequest& request) const;
  std::optional<http::RateDecision> count_refusal(const http::ServerRequest& request) const;
  ProblemDetails refused_by(const Error& error, Call& call,
                            std::optional<http::RateDecision> over) const;
  Task<Refused> read_body(Call& call) const;
  Task<Refused> read_text(Call& call) const;
  Refused check_body(Call& call) const;
  Refused read_key(Call& call) const;
  Task<Reply> run(Call& call) const;
  Task<Reply> run_once(Call& call) const;
  Task<void> keep(Call& call, const Reply& reply) const;
  Reply finish(Call& call, Reply reply) const;
  void log_error(const Error& error, const Fault& fault, const http::ServerRequest& request) const;

  OperationTable table_;
  Parts parts_;
  PipelineOptions options_;
  std::unique_ptr<ByteBudget> bodies_;
};

}  // namespace millrace::api
