// Who is let in: credentials, the rate of bad ones, the rate of good ones.
#include "api/pipeline.h"
#include "http/ip_network.h"
#include "identity/refusal.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Refusal;

constexpr std::string_view kChallenge = "Bearer realm=\"millrace\"";

http::RatePolicy per_minute(std::string name, std::uint64_t quota) {
  return {.name = std::move(name), .quota = quota, .window = std::chrono::seconds(60)};
}

http::RatePolicy refusals_policy(const PipelineOptions& options) {
  return per_minute("refusals", options.refusals_per_minute);
}

// Whose bad credentials are counted together; nothing: nobody's.
std::optional<std::string> peer_key(const PipelineOptions& options,
                                    const http::ServerRequest& request) {
  const bool known = request.peer != nullptr && !request.peer->host.empty();
  if (options.refusals_per_minute == 0 || !known) return std::nullopt;
  return "peer:" + http::household_of(request.peer->host);
}

// Who has no tenant of its own has no bucket of its own either, unless it is told apart from the
// rest of the world by where it comes from.
std::string rate_key(const identity::Caller& caller, const http::ServerRequest& request) {
  if (!caller.tenant) return fmt::format("caller:{}:{}", caller.subject, caller.token_id);
  if (*caller.tenant != identity::kNobodysTenant) return "tenant:" + caller.tenant->to_string();
  const auto host = request.peer == nullptr ? std::string() : request.peer->host;
  return fmt::format("nobody:{}:{}", http::household_of(host), caller.subject);
}

}  // namespace

Task<Pipeline::Refused> Pipeline::admit(Call& call) const {
  const auto& access = call.operation().access;
  // Looked at before the credentials are: whoever sends bad ones without end must not make us ask
  // the database for each of them.
  const auto over = access.guarded() ? over_refusals(call.request) : std::nullopt;
  auto admitted = co_await parts_.guard.admit(
      access, call.request, over ? identity::Welcome::known : identity::Welcome::anybody);
  if (!admitted) co_return refused_by(admitted.error(), call, over);
  co_return let_in(call, *std::move(admitted));
}

Pipeline::Refused Pipeline::let_in(Call& call, Admitted admitted) const {
  call.caller = std::move(admitted.caller);
  if (!call.operation().access.guarded()) return std::nullopt;
  call.note("role", identity::to_string(call.caller.role));
  if (call.caller.tenant) call.note("tenant_id", *call.caller.tenant);
  if (call.caller.user) call.note("user_id", *call.caller.user);
  return check_rate(call, admitted.policy);
}

std::optional<http::RateDecision> Pipeline::over_refusals(
    const http::ServerRequest& request) const {
  const auto key = peer_key(options_, request);
  if (!key) return std::nullopt;
  const auto decision = parts_.limiter.peek(*key, refusals_policy(options_));
  return decision.allowed ? std::nullopt : std::optional(decision);
}

std::optional<http::RateDecision> Pipeline::count_refusal(
    const http::ServerRequest& request) const {
  const auto key = peer_key(options_, request);
  if (!key) return std::nullopt;
  const auto decision = parts_.limiter.take(*key, refusals_policy(options_));
  return decision.allowed ? std::nullopt : std::optional(decision);
}

ProblemDetails Pipeline::refused_by(const Error& error, Call& call,
                                    std::optional<http::RateDecision> over) const {
  auto fault = fault_of(error);
  if (fault.status == 503) call.response.header("Retry-After", "1");
  const auto refusal = identity::refusal_of(error);
  if (!refusal) {
    log_error(error, fault, call.request);
    return {.fault = std::move(fault)};
  }
  parts_.metrics.count_refusal(to_string(*refusal));
  call.note("refusal", to_string(*refusal));
  const bool counts = *refusal != Refusal::forbidden && *refusal != Refusal::missing;
  if (counts && !over) over = count_refusal(call.request);
  if (counts && over) {
    const auto policy = refusals_policy(options_);
    http::add_rate_headers(call.response, policy, *over);
    return {.fault = {.status = 429,
                      .code = "too_many_refusals",
                      .detail = "too many requests with credentials that are not good"},
            .policy = policy.name};
  }
  if (fault.status == 401) call.response.header("WWW-Authenticate", kChallenge);
  return {.fault = std::move(fault)};
}

Pipeline::Refused Pipeline::check_rate(Call& call, const TenantPolicy& policy) const {
  const auto quota = policy.requests_per_minute.value_or(options_.tenant_requests_per_minute);
  if (quota == 0 || !call.operation().rate_limited) return std::nullopt;
  const auto rate = per_minute("tenant", quota);
  const auto decision = parts_.limiter.take(rate_key(call.caller, call.request), rate);
  http::add_rate_headers(call.response, rate, decision);
  if (decision.allowed) return std::nullopt;
  parts_.metrics.count_rate_limited();
  return ProblemDetails{
      .fault = {.status = 429,
                .code = "rate_limited",
                .detail = fmt::format("more than {} requests in a minute; try again in {} s", quota,
                                      decision.retry_after.count())},
      .policy = rate.name};
}

}  // namespace millrace::api
