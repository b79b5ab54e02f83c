#include "blob/supabase_dialect.h"

#include "base/json.h"

#include <fmt/format.h>

#include <charconv>

namespace millrace::blob {
namespace {

struct Known {
  std::string_view code;
  ErrorKind kind;
  std::string_view hint = {};
};

constexpr std::string_view kKeyHint =
    "check the key: the service key, or one whose policies allow it";
constexpr std::string_view kBucketHint = "check the name of the bucket";

constexpr Known kKnown[] = {
    {"NoSuchKey", ErrorKind::not_found},
    {"NoSuchBucket", ErrorKind::internal, kBucketHint},
    {"Bucket not found", ErrorKind::internal, kBucketHint},
    {"KeyAlreadyExists", ErrorKind::conflict},
    {"ResourceAlreadyExists", ErrorKind::conflict},
    {"Duplicate", ErrorKind::conflict},
    {"ResourceLocked", ErrorKind::unavailable},
    {"SlowDown", ErrorKind::throttled},
    {"DatabaseTimeout", ErrorKind::unavailable},
    {"InternalError", ErrorKind::unavailable},
    {"EntityTooLarge", ErrorKind::invalid_argument, "the bucket has a limit for the size of files"},
    {"InvalidMimeType", ErrorKind::invalid_argument, "the bucket does not allow this type"},
    {"InvalidKey", ErrorKind::internal},
    {"InvalidJWT", ErrorKind::internal, kKeyHint},
    {"ExpiredToken", ErrorKind::internal, kKeyHint},
    {"AccessDenied", ErrorKind::internal, kKeyHint},
};

std::string text_at(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr) return {};
  if (value->is_string()) return std::string(value->get_string());
  if (value->is_int64()) return fmt::format("{}", value->get_int64());
  return {};
}

int to_status(std::string_view text, int otherwise) {
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  const bool good =
      error == std::errc() && end == text.data() + text.size() && status >= 400 && status <= 599;
  return good ? status : otherwise;
}

}  // namespace

Result<http::Request> SupabaseDialect::sign(const Call& call, Clock::Wall) const {
  http::Request request{
      .method = call.method, .url = endpoint_.url() + call.path, .headers = call.headers};
  if (!call.query.empty()) request.url += "?" + to_query(call.query);
  request.headers.emplace_back("apikey", api_key_.reveal());
  if (!bearer_.reveal().empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + bearer_.reveal());
  }
  return request;
}

Error SupabaseDialect::refusal(const http::Response& answer) const {
  int status = answer.status;
  std::string code;
  std::string older;  // Servers before there were codes.
  if (const auto body = parse_json_object(answer.body)) {
    if (status == 400) status = to_status(text_at(*body, "statusCode"), status);
    code = text_at(*body, "code");
    older = text_at(*body, "error");
    if (text_at(*body, "message") == "Bucket not found") older = "Bucket not found";
  }
  Error error{.kind = kind_of_status(status),
              .message = fmt::format(
                  "{} (status {})", safe_code(code).empty() ? "refused" : safe_code(code), status)};
  for (const auto& known : kKnown) {
    if (known.code != code && (!code.empty() || known.code != older)) continue;
    error.kind = known.kind;
    error.hint = known.hint;
  }
  return error;
}

}  // namespace millrace::blob
