#include "blob/azure_dialect.h"

#include "blob/xml.h"

#include <fmt/format.h>

namespace millrace::blob {
namespace {

struct Known {
  std::string_view code;
  ErrorKind kind;
  std::string_view hint = {};
};

constexpr std::string_view kKeyHint = "check the account's name and key, and this machine's clock";
constexpr std::string_view kContainerHint = "check the name of the container";

// What a code means to us; the rest is told by the status. Damage on the way is worth a repeat.
constexpr Known kKnown[] = {
    {"BlobNotFound", ErrorKind::not_found},
    {"ContainerNotFound", ErrorKind::internal, kContainerHint},
    {"ContainerBeingDeleted", ErrorKind::internal, kContainerHint},
    {"ContainerDisabled", ErrorKind::internal, kContainerHint},
    {"ResourceNotFound", ErrorKind::internal, kContainerHint},
    {"ServerBusy", ErrorKind::throttled},
    {"TooManyRequests", ErrorKind::throttled},
    {"IngressOverAccountLimit", ErrorKind::throttled},
    {"EgressOverAccountLimit", ErrorKind::throttled},
    {"InternalError", ErrorKind::unavailable},
    {"OperationTimedOut", ErrorKind::unavailable},
    {"Md5Mismatch", ErrorKind::unavailable},
    {"Crc64Mismatch", ErrorKind::unavailable},
    {"InvalidBlockList", ErrorKind::conflict},
    {"RequestBodyTooLarge", ErrorKind::invalid_argument},
    {"AuthenticationFailed", ErrorKind::internal, kKeyHint},
    {"InvalidAuthenticationInfo", ErrorKind::internal, kKeyHint},
    {"AuthorizationFailure", ErrorKind::internal, kKeyHint},
    {"AccountIsDisabled", ErrorKind::internal, "the storage account is disabled"},
};

}  // namespace

Result<http::Request> AzureDialect::sign(const Call& call, Clock::Wall now) const {
  const AzureRequest unsigned_request{
      .method = call.method,
      .path = endpoint_.path + call.path,
      .query = call.query,
      .headers = call.headers,
      .body_bytes = call.part ? call.part->size_bytes : call.body.size()};
  http::Request request{
      .method = call.method,
      .url = fmt::format("{}://{}{}", endpoint_.scheme, endpoint_.host, unsigned_request.path),
      .headers = call.headers};
  if (!call.query.empty()) request.url += "?" + to_query(call.query);
  for (auto& header : azure_sign(unsigned_request, account_, now)) {
    request.headers.push_back(std::move(header));
  }
  return request;
}

// Of what the server says, the code alone goes into the message: its text repeats what was signed.
Error AzureDialect::refusal(const http::Response& answer) const {
  auto code = safe_code(answer.header("x-ms-error-code").value_or(""));
  if (code.empty()) {
    const auto root = parse_xml(answer.body);
    if (root) code = safe_code(root->value("Code"));
  }
  Error error{.kind = kind_of_status(answer.status),
              .message = fmt::format("{} (status {}, request {})", code.empty() ? "refused" : code,
                                     answer.status,
                                     safe_code(answer.header("x-ms-request-id").value_or("")))};
  for (const auto& known : kKnown) {
    if (known.code != code) continue;
    error.kind = known.kind;
    error.hint = known.hint;
  }
  return error;
}

}  // namespace millrace::blob
