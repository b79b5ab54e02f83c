#include "worker/handlers/http_outcome.h"

#include "base/json.h"
#include "base/redact.h"
#include "http/retry_after.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace millrace::worker {
namespace {

constexpr std::size_t kQuotedBodyMaxBytes = 500;

bool is_json(const http::Response& response) {
  const auto type = response.header("content-type").value_or("");
  const auto name = type.substr(0, type.find(';'));
  return name.starts_with("application/json") || name.contains("+json");
}

Outcome result_of(const http::Response& response, std::size_t max_bytes) {
  if (response.body_truncated || response.body.size() > max_bytes) {
    return Outcome::permanent("result_too_large",
                              fmt::format("the answer has more than {} bytes; store large results "
                                          "elsewhere and return their key",
                                          max_bytes));
  }
  if (response.status == 204 || response.body.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Outcome::ok();
  }
  const auto parsed = parse_json(response.body, {.max_bytes = max_bytes});
  if (parsed.has_value()) return Outcome::ok(response.body);
  if (is_json(response)) {
    return Outcome::permanent("invalid_result",
                              "the answer claims to be JSON and is not: " + parsed.error().message);
  }
  return Outcome::ok(json_quote(storable_text(response.body, max_bytes / 8)));
}

std::string describe(const http::Response& response) {
  auto text = fmt::format("the endpoint answered {}", response.status);
  if (!response.body.empty()) {
    text += ": " + storable_text(redact_text(response.body), kQuotedBodyMaxBytes);
  }
  return text;
}

}  // namespace

StatusClass classify_status(int status, bool has_retry_after) {
  if (status >= 200 && status < 300) return StatusClass::ok;
  switch (status) {
    case 429:
    case 529:
      return StatusClass::throttled;
    case 503:
      return has_retry_after ? StatusClass::throttled : StatusClass::retry;
    case 408:
    case 409:
    case 425:
      return StatusClass::retry;
    default:
      return status >= 500 ? StatusClass::retry : StatusClass::permanent;
  }
}

Outcome http_outcome(const http::Response& response, std::chrono::system_clock::time_point now,
                     std::size_t result_max_bytes) {
  const auto header = response.header("retry-after");
  const auto retry_after = header ? http::parse_retry_after(*header, now) : std::nullopt;
  const auto error_type = fmt::format("http_{}", response.status);
  switch (classify_status(response.status, retry_after.has_value())) {
    case StatusClass::ok:
      return result_of(response, result_max_bytes);
    case StatusClass::throttled:
      return Outcome::throttled(describe(response), retry_after);
    case StatusClass::retry:
      return Outcome::retry(error_type, describe(response), retry_after);
    case StatusClass::permanent:
      return Outcome::permanent(error_type, describe(response));
  }
  return Outcome::retry(error_type, describe(response));
}

// No default: a new kind does not compile until it is classified.
Outcome http_outcome(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid_argument:
      return Outcome::permanent("invalid_request", error.message);
    case ErrorKind::cancelled:
      return Outcome::cancelled(error.message);
    case ErrorKind::in_doubt:
      return Outcome::retry("no_answer", error.message);
    case ErrorKind::unavailable:
      return Outcome::retry("not_reached", error.message);
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::lease_lost:
    case ErrorKind::throttled:
    case ErrorKind::internal:
      break;
  }
  return Outcome::retry("transport", error.message);
}

}  // namespace millrace::worker
