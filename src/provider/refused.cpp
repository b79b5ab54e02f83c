#include "provider/refused.h"

#include "base/json_outside.h"
#include "provider/rate_state.h"

#include <fmt/format.h>

namespace millrace::provider {
namespace {

constexpr std::size_t kWordMax = 64;

// Words of a service are shown, so they must be words.
std::string shown_word(std::string_view word) {
  std::string out(word.substr(0, kWordMax));
  for (char& c : out) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
    if (!fine) c = '?';
  }
  return out;
}

}  // namespace

CallFailure refused(const CallContext& context, const Refusal& refusal) {
  auto failure = classify(context.service, refusal);
  failure.provider_code = shown_word(failure.provider_code);
  failure.message = fmt::format("{} answered {}", context.name, refusal.status);
  if (!failure.provider_code.empty()) failure.message += " " + failure.provider_code;
  if (const auto said = scrub(refusal.message, context.scrub); !said.empty()) {
    failure.message += ": " + said;
  }
  return failure;
}

CallFailure bad_answer(const CallContext& context, std::string_view what, int status) {
  return {.kind = CallFailure::Kind::retry,
          .error_type = "bad_answer",
          .message = fmt::format("{} answered {} with {}", context.name, status, what),
          .maybe_charged = true,
          .status = status};
}

CallFailure unfinished(const CallContext& context, std::string_view error_type,
                       std::string_view what) {
  return {.kind = CallFailure::Kind::permanent,
          .error_type = std::string(error_type),
          .message = fmt::format("{}: {}", context.name, what),
          .provider_code = std::string(error_type),
          .maybe_charged = true,
          .status = 200};
}

CallFailure no_answer(const CallContext& context, std::string_view what, const Usage& usage) {
  if (usage.reported && usage.total() > 0) return unfinished(context, "bad_answer", what);
  return bad_answer(context, what, 200);
}

void note_status_200(int status, CallFailure& failure) {
  if (status != 200) return;
  using Kind = CallFailure::Kind;
  if (failure.kind == Kind::retry || failure.kind == Kind::permanent) failure.maybe_charged = true;
}

json::Value body_json(const http::Response& response, std::size_t max_bytes) {
  const auto mended = mend_surrogates(response.body);
  auto value =
      parse_json(mended ? *mended : response.body, {.max_bytes = max_bytes, .max_depth = 64});
  return value ? *std::move(value) : json::Value();
}

void read_retry_headers(const http::Response& response, Wall now, Refusal& refusal) {
  refusal.retry_after = retry_after_of(response, now);
  if (const auto advice = response.header("x-should-retry")) {
    if (*advice == "true") refusal.should_retry = true;
    if (*advice == "false") refusal.should_retry = false;
  }
}

}  // namespace millrace::provider
