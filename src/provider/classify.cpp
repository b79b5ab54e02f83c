#include "provider/classify.h"

#include <algorithm>
#include <array>

namespace millrace::provider {
namespace {

using Kind = CallFailure::Kind;

constexpr auto kOpenAi = std::to_array<Rule>({
    // Money: nothing will do until somebody pays.
    {.word = "insufficient_quota", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "credit_balance_exhausted", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "organization_spend_limit_exceeded", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "project_spend_limit_exceeded", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "organization_usage_limit_exceeded", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "billing_hard_limit_reached", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "billing_not_active", .kind = Kind::blocked, .error_type = "quota"},
    // Our key.
    {.word = "invalid_api_key", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "account_deactivated", .kind = Kind::blocked, .error_type = "auth"},
    // Limits.
    {.word = "rate_limit_exceeded", .kind = Kind::throttled, .error_type = "rate_limit"},
    {.word = "slow_down", .kind = Kind::throttled, .error_type = "slow_down"},
    // The service.
    {.word = "server_is_overloaded",
     .kind = Kind::retry,
     .error_type = "overloaded",
     .throttled_if_told = true},
    // The request.
    {.word = "context_length_exceeded", .kind = Kind::permanent, .error_type = "too_large"},
    {.word = "max_tokens_per_request", .kind = Kind::permanent, .error_type = "too_large"},
    {.word = "string_above_max_length", .kind = Kind::permanent, .error_type = "too_large"},
    {.word = "array_above_max_length", .kind = Kind::permanent, .error_type = "too_large"},
    {.word = "exceed_context_size_error", .kind = Kind::permanent, .error_type = "too_large"},
    {.word = "model_not_found", .kind = Kind::permanent, .error_type = "model_not_found"},
    {.word = "content_policy_violation", .kind = Kind::permanent, .error_type = "content_filter"},
    {.word = "content_filter", .kind = Kind::permanent, .error_type = "content_filter"},
    // Embeddings say it without a code.
    {.message_part = "maximum context length", .kind = Kind::permanent, .error_type = "too_large"},
    {.message_part = "maximum input length", .kind = Kind::permanent, .error_type = "too_large"},
    // Ollama; llama.cpp, as a 500; vLLM.
    {.message_part = "input length exceeds", .kind = Kind::permanent, .error_type = "too_large"},
    {.message_part = "is too large to process", .kind = Kind::permanent, .error_type = "too_large"},
    {.message_part = "maximum model length", .kind = Kind::permanent, .error_type = "too_large"},
    {.status = 400, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 401, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 402, .kind = Kind::blocked, .error_type = "quota"},
    {.status = 403, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 404, .kind = Kind::permanent, .error_type = "not_found"},
    {.status = 408, .kind = Kind::retry, .error_type = "timeout"},
    {.status = 409, .kind = Kind::retry, .error_type = "conflict"},
    {.status = 413, .kind = Kind::permanent, .error_type = "too_large"},
    {.status = 415, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 422, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 429, .kind = Kind::throttled, .error_type = "rate_limit"},
    {.status = 500, .kind = Kind::retry, .error_type = "server_error"},
    // A gateway that lost the answer of a server which may have done the work.
    {.status = 502, .kind = Kind::retry, .error_type = "server_error", .maybe_charged = true},
    {.status = 503, .kind = Kind::retry, .error_type = "unavailable", .throttled_if_told = true},
    {.status = 504, .kind = Kind::retry, .error_type = "timeout", .maybe_charged = true},
    {.status = 529, .kind = Kind::throttled, .error_type = "overloaded"},
});

constexpr auto kAnthropic = std::to_array<Rule>({
    {.word = "enforced_spend_limit_reached", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "billing_error", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "authentication_error", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "permission_error", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "rate_limit_error", .kind = Kind::throttled, .error_type = "rate_limit"},
    {.word = "overloaded_error", .kind = Kind::throttled, .error_type = "overloaded"},
    {.word = "api_error", .kind = Kind::retry, .error_type = "server_error"},
    {.word = "timeout_error", .kind = Kind::retry, .error_type = "timeout", .maybe_charged = true},
    {.word = "not_found_error", .kind = Kind::permanent, .error_type = "not_found"},
    {.word = "request_too_large", .kind = Kind::permanent, .error_type = "too_large"},
    // An empty account is an "invalid_request_error" like any other, but for its message.
    {.message_part = "credit balance is too low", .kind = Kind::blocked, .error_type = "quota"},
    {.message_part = "prompt is too long", .kind = Kind::permanent, .error_type = "too_large"},
    {.status = 400, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 401, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 402, .kind = Kind::blocked, .error_type = "quota"},
    {.status = 403, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 404, .kind = Kind::permanent, .error_type = "not_found"},
    {.status = 408, .kind = Kind::retry, .error_type = "timeout"},
    {.status = 409, .kind = Kind::retry, .error_type = "conflict"},
    {.status = 413, .kind = Kind::permanent, .error_type = "too_large"},
    {.status = 422, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 429, .kind = Kind::throttled, .error_type = "rate_limit"},
    {.status = 500, .kind = Kind::retry, .error_type = "server_error"},
    {.status = 502, .kind = Kind::retry, .error_type = "server_error", .maybe_charged = true},
    {.status = 503, .kind = Kind::retry, .error_type = "unavailable", .throttled_if_told = true},
    {.status = 504, .kind = Kind::retry, .error_type = "timeout", .maybe_charged = true},
    {.status = 529, .kind = Kind::throttled, .error_type = "overloaded"},
});

constexpr auto kVision = std::to_array<Rule>({
    // Reasons of google.rpc.ErrorInfo. A wrong key is an INVALID_ARGUMENT but for its reason.
    {.word = "API_KEY_INVALID", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "API_KEY_SERVICE_BLOCKED", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "ACCESS_TOKEN_EXPIRED", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "CONSUMER_INVALID", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "SERVICE_DISABLED", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "BILLING_DISABLED", .kind = Kind::blocked, .error_type = "quota"},
    {.word = "RATE_LIMIT_EXCEEDED", .kind = Kind::throttled, .error_type = "rate_limit"},
    // Names of google.rpc.Code.
    {.word = "RESOURCE_EXHAUSTED", .kind = Kind::throttled, .error_type = "rate_limit"},
    {.word = "UNAUTHENTICATED", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "PERMISSION_DENIED", .kind = Kind::blocked, .error_type = "auth"},
    {.word = "UNAVAILABLE",
     .kind = Kind::retry,
     .error_type = "unavailable",
     .throttled_if_told = true},
    {.word = "CANCELLED", .kind = Kind::retry, .error_type = "server_error"},
    {.word = "UNKNOWN", .kind = Kind::retry, .error_type = "server_error"},
    {.word = "ABORTED", .kind = Kind::retry, .error_type = "conflict"},
    {.word = "INTERNAL", .kind = Kind::retry, .error_type = "server_error"},
    {.word = "DEADLINE_EXCEEDED",
     .kind = Kind::retry,
     .error_type = "timeout",
     .maybe_charged = true},
    {.word = "INVALID_ARGUMENT", .kind = Kind::permanent, .error_type = "bad_request"},
    {.word = "FAILED_PRECONDITION", .kind = Kind::permanent, .error_type = "bad_request"},
    {.word = "OUT_OF_RANGE", .kind = Kind::permanent, .error_type = "bad_request"},
    {.word = "NOT_FOUND", .kind = Kind::permanent, .error_type = "not_found"},
    {.word = "ALREADY_EXISTS", .kind = Kind::permanent, .error_type = "bad_request"},
    {.word = "UNIMPLEMENTED", .kind = Kind::permanent, .error_type = "bad_request"},
    {.word = "DATA_LOSS", .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 400, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 401, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 403, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 404, .kind = Kind::permanent, .error_type = "not_found"},
    {.status = 408, .kind = Kind::retry, .error_type = "timeout"},
    {.status = 409, .kind = Kind::retry, .error_type = "conflict"},
    {.status = 413, .kind = Kind::permanent, .error_type = "too_large"},
    {.status = 429, .kind = Kind::throttled, .error_type = "rate_limit"},
    {.status = 500, .kind = Kind::retry, .error_type = "server_error"},
    {.status = 502, .kind = Kind::retry, .error_type = "server_error", .maybe_charged = true},
    {.status = 503, .kind = Kind::retry, .error_type = "unavailable", .throttled_if_told = true},
    {.status = 504, .kind = Kind::retry, .error_type = "timeout", .maybe_charged = true},
});

constexpr auto kParser = std::to_array<Rule>({
    // Money has no word of its own there.
    {.message_part = "maximum number of credits", .kind = Kind::blocked, .error_type = "quota"},
    {.message_part = "out of credits", .kind = Kind::blocked, .error_type = "quota"},
    {.status = 400, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 401, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 402, .kind = Kind::blocked, .error_type = "quota"},
    {.status = 403, .kind = Kind::blocked, .error_type = "auth"},
    {.status = 404, .kind = Kind::permanent, .error_type = "not_found"},
    {.status = 408, .kind = Kind::retry, .error_type = "timeout"},
    {.status = 409, .kind = Kind::retry, .error_type = "conflict"},
    {.status = 413, .kind = Kind::permanent, .error_type = "too_large"},
    {.status = 415, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 422, .kind = Kind::permanent, .error_type = "bad_request"},
    {.status = 429, .kind = Kind::throttled, .error_type = "rate_limit"},
    {.status = 500, .kind = Kind::retry, .error_type = "server_error"},
    {.status = 502, .kind = Kind::retry, .error_type = "server_error", .maybe_charged = true},
    {.status = 503, .kind = Kind::retry, .error_type = "unavailable", .throttled_if_told = true},
    {.status = 504, .kind = Kind::retry, .error_type = "timeout", .maybe_charged = true},
});

constexpr auto kRpcCodes = std::to_array<std::string_view>(
    {"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
     "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
     "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"});

// What no row names: a new 4xx will be refused again, anything else may pass.
Rule rule_of_class(int status) {
  if (status >= 400 && status < 500) {
    return {.kind = Kind::permanent, .error_type = "bad_request"};
  }
  // Redirects are not followed: credentials would go where the configuration does not say.
  if (status >= 300 && status < 400) return {.kind = Kind::permanent, .error_type = "redirect"};
  return {.kind = Kind::retry, .error_type = "server_error"};
}

const Rule* rule_by_word(std::span<const Rule> rules, const Refusal& refusal) {
  for (const auto& word : refusal.words) {
    if (word.empty()) continue;
    const auto found = std::ranges::find(rules, std::string_view(word), &Rule::word);
    if (found != rules.end()) return &*found;
  }
  const auto by_message = std::ranges::find_if(rules, [&](const Rule& rule) {
    return !rule.message_part.empty() && refusal.message.contains(rule.message_part);
  });
  return by_message == rules.end() ? nullptr : &*by_message;
}

Rule rule_by_status(std::span<const Rule> rules, const Refusal& refusal) {
  const auto found = std::ranges::find_if(
      rules, [&](const Rule& rule) { return rule.status != 0 && rule.status == refusal.status; });
  Rule rule = found == rules.end() ? rule_of_class(refusal.status) : *found;
  // Advice between "again" and "never"; limits and money are not its business.
  if (refusal.should_retry == true && rule.kind == Kind::permanent) rule.kind = Kind::retry;
  if (refusal.should_retry == false && rule.kind == Kind::retry) rule.kind = Kind::permanent;
  return rule;
}

}  // namespace

std::string_view to_string(Service service) {
  switch (service) {
    case Service::openai:
      return "openai";
    case Service::anthropic:
      return "anthropic";
    case Service::vision:
      return "google-vision";
    case Service::parser:
      return "parser";
  }
  return {};
}

std::span<const Rule> rules_of(Service service) {
  switch (service) {
    case Service::openai:
      return kOpenAi;
    case Service::anthropic:
      return kAnthropic;
    case Service::vision:
      return kVision;
    case Service::parser:
      return kParser;
  }
  return {};
}

CallFailure classify(Service service, const Refusal& refusal) {
  const auto rules = rules_of(service);
  const auto* by_word = rule_by_word(rules, refusal);
  const Rule rule = by_word != nullptr ? *by_word : rule_by_status(rules, refusal);
  CallFailure failure;
  failure.kind = rule.throttled_if_told && refusal.retry_after ? Kind::throttled : rule.kind;
  failure.error_type = rule.error_type;
  failure.retry_after = refusal.retry_after;
  failure.maybe_charged = rule.maybe_charged;
  failure.status = refusal.status;
  if (by_word != nullptr && !by_word->word.empty()) {
    failure.provider_code = by_word->word;
  } else if (!refusal.words.empty()) {
    failure.provider_code = refusal.words.front();
  }
  return failure;
}

std::string_view rpc_code_name(int code) {
  const bool known = code >= 0 && code < static_cast<int>(kRpcCodes.size());
  return known ? kRpcCodes[static_cast<std::size_t>(code)] : std::string_view("UNKNOWN");
}

}  // namespace millrace::provider
