#include "model/outcome.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace {
namespace {

constexpr std::array<std::pair<Outcome::Kind, std::string_view>, 9> kKinds{{
    {Outcome::Kind::ok, "ok"},
    {Outcome::Kind::retry, "retry"},
    {Outcome::Kind::throttled, "throttled"},
    {Outcome::Kind::blocked, "blocked"},
    {Outcome::Kind::permanent, "permanent"},
    {Outcome::Kind::partial, "partial"},
    {Outcome::Kind::cancelled, "cancelled"},
    {Outcome::Kind::rescheduled, "rescheduled"},
    {Outcome::Kind::handback, "handback"},
}};

Outcome failed(Outcome::Kind kind, std::string_view error_type, std::string_view message) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.error_json = error_json(error_type, message);
  return outcome;
}

}  // namespace

Outcome Outcome::ok(std::string result) {
  Outcome outcome;
  outcome.result_json = std::move(result);
  return outcome;
}

Outcome Outcome::ok_value(const json::Value& result) { return ok(to_json(result)); }

Outcome Outcome::retry(std::string_view error_type, std::string_view message,
                       std::optional<std::chrono::milliseconds> after) {
  auto outcome = failed(Kind::retry, error_type, message);
  outcome.retry_after = after;
  return outcome;
}

Outcome Outcome::throttled(std::string_view message,
                           std::optional<std::chrono::milliseconds> after) {
  auto outcome = failed(Kind::throttled, "throttled", message);
  outcome.retry_after = after;
  return outcome;
}

Outcome Outcome::blocked(std::string_view provider, std::string_view message) {
  auto outcome = failed(Kind::blocked, "blocked", message);
  outcome.provider = provider;
  return outcome;
}

Outcome Outcome::not_asked(Kind kind, std::string_view error_type, std::string_view message,
                           std::chrono::milliseconds after) {
  auto outcome = failed(kind, error_type, message);
  outcome.error_json.pop_back();
  outcome.error_json += ",\"asked\":false}";
  outcome.retry_after = after;
  return outcome;
}

Outcome Outcome::not_here(std::string_view provider, std::string_view message) {
  auto outcome = not_asked(Kind::blocked, "not_here", message, std::chrono::seconds(30));
  outcome.provider = provider;
  outcome.actual_tokens = 0;
  return outcome;
}

Outcome Outcome::held_up(std::string_view message, std::chrono::milliseconds after) {
  return not_asked(Kind::throttled, "held_up", message, after);
}

Outcome Outcome::permanent(std::string_view error_type, std::string_view message) {
  return failed(Kind::permanent, error_type, message);
}

Outcome Outcome::partial(std::string parts, std::string_view message) {
  auto outcome = failed(Kind::partial, "partial", message);
  outcome.parts_json = std::move(parts);
  return outcome;
}

Outcome Outcome::cancelled(std::string_view reason) {
  return failed(Kind::cancelled, "cancelled", reason);
}

Outcome Outcome::rescheduled(std::string_view reason, std::chrono::milliseconds after) {
  auto outcome = failed(Kind::rescheduled, "waiting", reason);
  outcome.retry_after = after;
  return outcome;
}

Outcome Outcome::handback(std::string_view reason) {
  return failed(Kind::handback, "handback", reason);
}

std::string_view to_string(Outcome::Kind kind) {
  for (const auto& [value, label] : kKinds) {
    if (value == kind) return label;
  }
  return "unknown";
}

Result<Outcome::Kind> parse_outcome_kind(std::string_view text) {
  for (const auto& [value, label] : kKinds) {
    if (label == text) return value;
  }
  return fail(ErrorKind::invalid_argument, "unknown outcome '" + std::string(text) + "'");
}

std::string error_json(std::string_view error_type, std::string_view message) {
  return "{\"error_type\":" + json_quote(storable_text(error_type)) +
         ",\"message\":" + json_quote(storable_text(message)) + "}";
}

std::string storable_text(std::string_view text, std::size_t max_bytes) {
  std::string result;
  result.reserve(std::min(text.size(), max_bytes));
  for (const char c : text.substr(0, max_bytes)) {
    if (c != '\0') result += c;
  }
  // A character cut in half becomes U+FFFD in json_quote; take its beginning away instead.
  if (text.size() > max_bytes) {
    while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0xc0U) == 0x80U) {
      result.pop_back();
    }
    if (!result.empty() && (static_cast<unsigned char>(result.back()) & 0x80U) != 0) {
      result.pop_back();
    }
    result += "…";
  }
  return result;
}

}  // namespace millrace
