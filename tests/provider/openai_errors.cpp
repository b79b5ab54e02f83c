#include "openai_errors.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::test {

WireReply openai_error(int status, std::string_view message, std::string_view type,
                       const json::Value& code) {
  return json_reply(status, json::Object{{"error", json::Object{{"message", message},
                                                                {"type", type},
                                                                {"param", nullptr},
                                                                {"code", code}}}});
}

WireReply openai_invalid(std::string_view message, std::string_view code) {
  return openai_error(400, message, "invalid_request_error", json::Value(code));
}

std::string openai_key(const WireRequest& request) {
  const auto header = request.header("authorization");
  if (header.starts_with("Bearer ")) return header.substr(7);
  return request.header("api-key");
}

WireReply openai_wrong_key(bool missing) {
  if (missing) {
    return openai_error(401, "You didn't provide an API key.", "invalid_request_error", nullptr);
  }
  return openai_error(401, "Incorrect API key provided.", "invalid_request_error",
                      "invalid_api_key");
}

WireReply openai_trouble(const Trouble& trouble) {
  WireReply reply;
  switch (trouble.action) {
    case Action::throttle:
    case Action::throttle_bare:
      reply = openai_error(429, "Rate limit reached on requests per min (RPM).", "requests",
                           "rate_limit_exceeded");
      break;
    case Action::slow_down:
      reply = openai_error(429, "Slow down.", "slow_down", "slow_down");
      break;
    case Action::quota:
      reply =
          openai_error(429, "You exceeded your current quota, please check your plan and billing.",
                       "insufficient_quota", "insufficient_quota");
      break;
    case Action::unavailable:
    case Action::unavailable_told:
    case Action::overloaded:
      reply = openai_error(503, "The server is currently overloaded.", "server_error",
                           "server_is_overloaded");
      break;
    case Action::auth:
      reply = openai_wrong_key(false);
      break;
    case Action::too_large:
      reply = openai_error(400, "This model's maximum context length is exceeded.",
                           "invalid_request_error", "context_length_exceeded");
      break;
    case Action::echo:
      reply = openai_error(400, "Invalid input: " + trouble.repeated, "invalid_request_error",
                           "invalid_value");
      break;
    default:
      reply = openai_error(500, "The server had an error.", "server_error", nullptr);
  }
  const bool told =
      trouble.action == Action::throttle || trouble.action == Action::unavailable_told;
  if (told) reply.headers.emplace_back("Retry-After", trouble.retry_after);
  return reply;
}

void openai_limits(WireReply& reply, const Admission& admission) {
  const auto add = [&](std::string_view what, const std::optional<BucketView>& bucket) {
    if (!bucket) return;
    const auto name = [&](std::string_view part) {
      return fmt::format("x-ratelimit-{}-{}", part, what);
    };
    reply.headers.emplace_back(name("limit"), std::to_string(bucket->limit));
    reply.headers.emplace_back(name("remaining"), std::to_string(bucket->remaining));
    reply.headers.emplace_back(name("reset"), go_duration(bucket->full_in));
  };
  add("requests", admission.requests);
  add("tokens", admission.tokens);
}

}  // namespace millrace::test
