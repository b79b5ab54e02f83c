#include "blob/s3_dialect.h"

#include "blob/digest.h"
#include "blob/xml.h"

#include <fmt/format.h>

namespace millrace::blob {
namespace {

// Of a bucket that is named by its host, the root is "/".
std::string path_at(const Endpoint& endpoint, const std::string& path) {
  const auto whole = endpoint.path + path;
  return whole.empty() ? "/" : whole;
}

struct Known {
  std::string_view code;
  ErrorKind kind;
  std::string_view hint = {};
};

constexpr std::string_view kKeyHint = "check the access key id and the secret access key";
constexpr std::string_view kBucketHint =
    "check the name of the bucket, the region and the endpoint";

// What a code means to us; the rest is told by the status. Damage on the way is worth a repeat.
constexpr Known kKnown[] = {
    {"NoSuchKey", ErrorKind::not_found},
    {"NoSuchUpload", ErrorKind::not_found},
    {"NoSuchBucket", ErrorKind::internal, kBucketHint},
    {"SlowDown", ErrorKind::throttled},
    {"SlowDownRead", ErrorKind::throttled},
    {"SlowDownWrite", ErrorKind::throttled},
    {"ServiceUnavailable", ErrorKind::throttled},
    {"TooManyRequests", ErrorKind::throttled},
    {"RequestLimitExceeded", ErrorKind::throttled},
    {"ThrottlingException", ErrorKind::throttled},
    {"InternalError", ErrorKind::unavailable},
    {"OperationAborted", ErrorKind::unavailable},
    {"ConditionalRequestConflict", ErrorKind::unavailable},
    {"RequestTimeout", ErrorKind::unavailable},
    {"IncompleteBody", ErrorKind::unavailable},
    {"BadDigest", ErrorKind::unavailable},
    {"XAmzContentSHA256Mismatch", ErrorKind::unavailable},
    {"XAmzContentChecksumMismatch", ErrorKind::unavailable},
    {"EntityTooLarge", ErrorKind::invalid_argument},
    {"InvalidAccessKeyId", ErrorKind::internal, kKeyHint},
    {"SignatureDoesNotMatch", ErrorKind::internal, kKeyHint},
    {"AccessDenied", ErrorKind::internal, "the key may not do this on the bucket"},
    {"ExpiredToken", ErrorKind::internal, "the temporary credentials have expired"},
    {"InvalidToken", ErrorKind::internal, "the session token is not one of this key"},
    {"RequestTimeTooSkewed", ErrorKind::internal, "set this machine's clock"},
    {"AuthorizationHeaderMalformed", ErrorKind::internal, kBucketHint},
    {"PermanentRedirect", ErrorKind::internal, kBucketHint},
};

}  // namespace

Result<http::Request> S3Dialect::sign(const Call& call, Clock::Wall now) const {
  const AwsRequest unsigned_request{
      .method = call.method,
      .host = endpoint_.host,
      .path = path_at(endpoint_, call.path),
      .query = call.query,
      .headers = call.headers,
      .payload_sha256 = call.part ? call.part->sha256_hex : sha256(call.body).hex()};
  http::Request request{
      .method = call.method,
      .url = fmt::format("{}://{}{}", endpoint_.scheme, endpoint_.host, unsigned_request.path),
      .headers = call.headers};
  if (!call.query.empty()) request.url += "?" + to_query(call.query);
  for (auto& header : aws_sign(unsigned_request, credentials_, scope_, now)) {
    request.headers.push_back(std::move(header));
  }
  return request;
}

bool S3Dialect::is_refusal(const http::Response& answer) const {
  if (!answer.body.contains("<Error>")) return false;
  const auto root = parse_xml(answer.body);
  return root && root->name == "Error";
}

// Of what the server says, the code alone goes into the message: other elements repeat our request.
Error S3Dialect::refusal(const http::Response& answer) const {
  const auto root = parse_xml(answer.body);
  const auto code = root ? safe_code(root->value("Code")) : std::string();
  Error error{.kind = kind_of_status(answer.status),
              .message = fmt::format("{} (status {}, request {})", code.empty() ? "refused" : code,
                                     answer.status,
                                     safe_code(answer.header("x-amz-request-id").value_or("")))};
  for (const auto& known : kKnown) {
    if (known.code != code) continue;
    error.kind = known.kind;
    error.hint = known.hint;
  }
  // A 200 that turned out to be none, with a code we do not know.
  if (answer.status < 300 && error.kind == ErrorKind::internal && error.hint.empty()) {
    error.kind = ErrorKind::unavailable;
  }
  return error;
}

std::string S3Dialect::presigned(const Endpoint& endpoint, const std::string& path, Query query,
                                 Clock::Wall now, std::chrono::seconds ttl) const {
  const AwsRequest request{.method = "GET",
                           .host = endpoint.host,
                           .path = path_at(endpoint, path),
                           .query = std::move(query)};
  return fmt::format("{}://{}{}?{}", endpoint.scheme, endpoint.host, request.path,
                     aws_presign(request, credentials_, scope_, now, ttl));
}

}  // namespace millrace::blob
