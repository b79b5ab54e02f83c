#include "api/storage/storage_error.h"

#include "identity/refusal.h"

#include <boost/json/object.hpp>

#include <optional>
#include <utility>

namespace millrace::api {
namespace {

using identity::Refusal;

struct Words {
  int status;
  std::string_view code;
  std::string_view error;
  std::string_view message = {};  // Empty: what the error says.
};

Words not_found_words(const Error& error) {
  if (error.message.starts_with("bucket ")) {
    return {404, "NoSuchBucket", "Bucket not found", "Bucket not found"};
  }
  return {404, "NoSuchKey", "not_found", "Object not found"};
}

// Rules of names and types have one SQLSTATE; their words tell them apart.
Words invalid_words(const Error& error) {
  if (error.message.starts_with("the name of an object")) return {400, "InvalidKey", "InvalidKey"};
  if (error.message.contains("does not take content of type")) {
    return {415, "InvalidMimeType", "invalid_mime_type"};
  }
  return {400, "InvalidRequest", "Error"};
}

// A signed URL that does not open.
Words refusal_words(Refusal refusal) {
  switch (refusal) {
    case Refusal::expired:
      return {400, "ExpiredToken", "InvalidJWT", "\"exp\" claim timestamp check failed"};
    case Refusal::wrong_resource:
      return {400, "InvalidSignature", "InvalidSignature"};
    case Refusal::forbidden:
      return {403, "AccessDenied", "Unauthorized"};
    default:
      return {400, "InvalidJWT", "InvalidJWT"};
  }
}

std::optional<Words> words_of_sqlstate(const Error& error) {
  const std::string_view code = error.sqlstate;
  if (code == "MR024") return invalid_words(error);
  if (code == "MR026" || code == "MR015") return Words{403, "AccessDenied", "Unauthorized"};
  if (code == "MR027") return Words{507, "QuotaExceeded", "quota_exceeded"};
  if (code == "MR028" || code == "MR031" || code == "MR039") return not_found_words(error);
  if (code == "MR030") {
    return Words{409, "KeyAlreadyExists", "Duplicate", "The resource already exists"};
  }
  if (code == "MR029") return Words{423, "ResourceLocked", "ResourceLocked"};
  if (code == "MR032") return Words{503, "SlowDown", "maintenance"};
  if (code == "MR038") {
    return Words{413, "EntityTooLarge", "Payload too large",
                 "The object exceeded the maximum allowed size"};
  }
  if (code == "42501") return Words{403, "AccessDenied", "Unauthorized"};
  return std::nullopt;
}

Words words_of_kind(ErrorKind kind, int status) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return {status, status < 500 ? "InvalidRequest" : "InternalError", "Error"};
    case ErrorKind::not_found:
      return {status, status < 500 ? "NoSuchKey" : "InternalError", "not_found"};
    case ErrorKind::conflict:
    case ErrorKind::lease_lost:
      return {status, "ResourceLocked", "conflict"};
    case ErrorKind::throttled:
      return {status, "SlowDown", "too_many_connections"};
    case ErrorKind::unavailable:
    case ErrorKind::cancelled:
      return {status, "SlowDown", "unavailable"};
    case ErrorKind::in_doubt:
      return {status, "DatabaseTimeout", "in_doubt"};
    case ErrorKind::internal:
      return {status, "InternalError", "internal"};
  }
  std::unreachable();
}

bool keeps_its_status(int status) { return status >= 500 || status == 429; }

// Of what the pipeline refuses before a handler runs.
std::string_view code_of(const Fault& fault) {
  switch (fault.status) {
    case 401:
      return "InvalidJWT";
    case 403:
      return "AccessDenied";
    case 413:
      return "EntityTooLarge";
    case 429:
      return "SlowDown";
    default:
      return fault.status >= 500 ? "InternalError" : "InvalidRequest";
  }
}

}  // namespace

StorageFault storage_fault_of(const Error& error) {
  const auto fault = fault_of(error);
  auto message = fault.detail;
  auto words = words_of_kind(error.kind, fault.status);
  if (const auto refusal = identity::refusal_of(error)) {
    words = refusal_words(*refusal);
  } else if (const auto exact = words_of_sqlstate(error)) {
    words = *exact;
    message = error.message;
  }
  if (!words.message.empty()) message = words.message;
  return {.http_status = keeps_its_status(words.status) ? words.status : 400,
          .status = words.status,
          .code = words.code,
          .error = words.error,
          .message = std::move(message)};
}

Fault storage_fault(const Error& error) {
  auto fault = storage_fault_of(error);
  return {.status = fault.http_status, .code = fault.error, .detail = std::move(fault.message)};
}

Reply storage_reply(const ProblemDetails& problem, std::string_view correlation_id) {
  const auto& fault = problem.fault;
  StorageFault words{.http_status = fault.status,
                     .status = fault.status,
                     .code = code_of(fault),
                     .error = fault.code,
                     .message = fault.detail};
  if (problem.cause) words = storage_fault_of(*problem.cause);
  for (const auto& error : problem.errors) words.message += "; " + error.detail;
  return Reply::json(json::Object{{"statusCode", std::to_string(words.status)},
                                  {"error", words.error},
                                  {"code", words.code},
                                  {"message", words.message},
                                  {"cid", correlation_id}},
                     words.http_status);
}

}  // namespace millrace::api
