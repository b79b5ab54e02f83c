#include "api/status.h"

#include "identity/refusal.h"

#include <array>
#include <optional>
#include <utility>

namespace millrace::api {
namespace {

using identity::Refusal;

struct Verdict {
  int status;
  std::string_view code;
};

// No default: a new kind does not compile until its answer is chosen.
Verdict verdict_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return {400, "invalid_argument"};
    case ErrorKind::not_found:
      return {404, "not_found"};
    case ErrorKind::conflict:
      return {409, "conflict"};
    case ErrorKind::lease_lost:
      return {409, "lease_lost"};
    case ErrorKind::throttled:
      return {429, "throttled"};
    case ErrorKind::unavailable:
      return {503, "unavailable"};
    case ErrorKind::cancelled:
      return {503, "cancelled"};
    case ErrorKind::in_doubt:
      return {504, "in_doubt"};
    case ErrorKind::internal:
      return {500, "internal"};
  }
  std::unreachable();
}

// Failures that HTTP has a more exact word for than their kind.
struct Exact {
  std::string_view sqlstate;
  Verdict verdict;
};
constexpr std::array kExact{
    Exact{"MR004", {413, "payload_too_large"}},
    Exact{"MR008", {429, "queue_full"}},
    Exact{"MR010", {409, "job_is_final"}},
    Exact{"MR011", {422, "idempotency_mismatch"}},
    Exact{"MR015", {403, "tenant_refused"}},
    Exact{"MR021", {503, "enqueue_disabled"}},
    Exact{"MR026", {403, "tenant_disabled"}},
    Exact{"MR027", {507, "quota_exceeded"}},
    Exact{"MR028", {404, "not_found"}},
    Exact{"MR029", {409, "upload_conflict"}},
    Exact{"MR030", {409, "object_exists"}},
    Exact{"MR031", {404, "not_found"}},
    Exact{"MR032", {503, "maintenance"}},
    Exact{"MR033", {409, "request_taken"}},
    Exact{"MR034", {404, "not_found"}},
    Exact{"MR035", {404, "not_found"}},
    Exact{"MR036", {404, "not_found"}},
    Exact{"MR037", {409, "blob_stale"}},
    Exact{"MR038", {413, "upload_too_large"}},
    Exact{"MR039", {404, "not_found"}},
    Exact{"MR040", {412, "precondition_failed"}},
    Exact{"MR041", {404, "not_found"}},
    Exact{"MR042", {409, "document_busy"}},
    Exact{"MR043", {404, "not_found"}},
    Exact{"MR044", {429, "operations_exhausted"}},
};

std::optional<Verdict> exact_verdict(std::string_view sqlstate) {
  for (const auto& exact : kExact) {
    if (exact.sqlstate == sqlstate) return exact.verdict;
  }
  return std::nullopt;
}

// PostgreSQL refuses values (22, 23, 54: a number too large, a text it cannot keep) because of what
// the client sent; anything else of its own is about our statements or grants.
bool is_our_bug(std::string_view sqlstate) {
  if (sqlstate.empty() || sqlstate.starts_with("MR")) return false;
  return !sqlstate.starts_with("22") && !sqlstate.starts_with("23") && !sqlstate.starts_with("54");
}

// Said by our functions (MR…), or by our own code about the request.
bool is_for_clients(const Error& error) {
  if (error.sqlstate.starts_with("MR")) return true;
  if (!error.sqlstate.empty()) return false;
  return error.kind == ErrorKind::invalid_argument || error.kind == ErrorKind::not_found ||
         error.kind == ErrorKind::conflict || error.kind == ErrorKind::lease_lost ||
         error.kind == ErrorKind::throttled;
}

std::string_view words_for(int status) {
  switch (status) {
    case 400:
      return "the request is not valid";
    case 404:
      return "there is no such thing";
    case 409:
      return "the request does not fit the present state";
    case 429:
      return "too much at once; try again later";
    case 503:
      return "not possible at the moment; try again later";
    case 504:
      return "no answer came in time; it may have been done all the same, so ask before repeating "
             "it, or repeat it with the same Idempotency-Key";
    default:
      return "something went wrong here; the log has more under this cid";
  }
}

Fault refused(Refusal refusal, const Error& error) {
  const bool known = refusal == Refusal::forbidden;
  return {.status = known ? 403 : 401, .code = to_string(refusal), .detail = error.message};
}

}  // namespace

Fault fault_of(const Error& error) {
  if (const auto refusal = identity::refusal_of(error)) return refused(*refusal, error);
  const bool is_callers_fault =
      error.kind == ErrorKind::invalid_argument || error.kind == ErrorKind::not_found;
  const auto kind =
      is_callers_fault && is_our_bug(error.sqlstate) ? ErrorKind::internal : error.kind;
  const auto verdict = exact_verdict(error.sqlstate).value_or(verdict_of(kind));
  Fault fault{.status = verdict.status, .code = verdict.code, .detail = {}};
  if (!is_for_clients(error)) {
    fault.detail = words_for(verdict.status);
    return fault;
  }
  fault.detail = error.message;
  if (!error.hint.empty()) fault.detail += "; " + error.hint;
  return fault;
}

}  // namespace millrace::api
