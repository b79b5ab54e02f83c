#include "provider/call.h"

namespace millrace::provider {

std::string_view to_string(CallFailure::Kind kind) {
  switch (kind) {
    case CallFailure::Kind::throttled:
      return "throttled";
    case CallFailure::Kind::blocked:
      return "blocked";
    case CallFailure::Kind::retry:
      return "retry";
    case CallFailure::Kind::permanent:
      return "permanent";
    case CallFailure::Kind::unknown:
      return "unknown";
    case CallFailure::Kind::cancelled:
      return "cancelled";
  }
  return "unknown";
}

namespace {

Outcome outcome_of(const CallFailure& failure, std::string_view provider) {
  switch (failure.kind) {
    case CallFailure::Kind::throttled:
      return Outcome::throttled(failure.message, failure.retry_after);
    case CallFailure::Kind::blocked:
      return Outcome::blocked(provider, failure.message);
    case CallFailure::Kind::retry:
    case CallFailure::Kind::unknown:
      return Outcome::retry(failure.error_type, failure.message, failure.retry_after);
    case CallFailure::Kind::permanent:
      return Outcome::permanent(failure.error_type, failure.message);
    case CallFailure::Kind::cancelled:
      return Outcome::cancelled(failure.message);
  }
  return Outcome::retry(failure.error_type, failure.message);
}

}  // namespace

Outcome to_outcome(const CallFailure& failure, std::string_view provider, const Usage& asked) {
  auto outcome = outcome_of(failure, provider);
  outcome.provider = provider;
  if (failure.kind == CallFailure::Kind::throttled && !failure.retry_after) {
    if (const auto hold = hold_of(failure.rate, asked); hold.count() > 0)
      outcome.retry_after = hold;
  }
  if (failure.usage && failure.usage->reported) {
    outcome.actual_tokens = static_cast<std::int64_t>(failure.usage->total());
  }
  return outcome;
}

}  // namespace millrace::provider
