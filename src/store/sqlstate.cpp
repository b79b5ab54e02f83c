#include "store/sqlstate.h"

#include <array>
#include <utility>

namespace millrace::store {
namespace {

constexpr std::array<SqlStateEntry, 47> kStates{{
    {SqlState::lease_lost, "MR001", "lease_lost"},
    {SqlState::unknown_job_type, "MR002", "unknown_job_type"},
    {SqlState::invalid_payload, "MR003", "invalid_payload"},
    {SqlState::payload_too_large, "MR004", "payload_too_large"},
    {SqlState::invalid_priority, "MR005", "invalid_priority"},
    {SqlState::invalid_schedule, "MR006", "invalid_schedule"},
    {SqlState::unknown_queue, "MR007", "unknown_queue"},
    {SqlState::queue_full, "MR008", "queue_full"},
    {SqlState::job_not_found, "MR009", "job_not_found"},
    {SqlState::job_is_final, "MR010", "job_is_final"},
    {SqlState::idempotency_mismatch, "MR011", "idempotency_mismatch"},
    {SqlState::invalid_cron, "MR012", "invalid_cron"},
    {SqlState::no_rate_limit, "MR013", "no_rate_limit"},
    {SqlState::cost_over_limit, "MR014", "cost_over_limit"},
    {SqlState::tenant_refused, "MR015", "tenant_refused"},
    {SqlState::invalid_settlement, "MR016", "invalid_settlement"},
    {SqlState::invalid_policy, "MR017", "invalid_policy"},
    {SqlState::invalid_batch, "MR018", "invalid_batch"},
    {SqlState::invalid_dependency, "MR019", "invalid_dependency"},
    {SqlState::invalid_configuration, "MR020", "invalid_configuration"},
    {SqlState::enqueue_disabled, "MR021", "enqueue_disabled"},
    {SqlState::immutable, "MR022", "immutable"},
    {SqlState::worker_unknown, "MR023", "worker_unknown"},
    {SqlState::invalid_argument, "MR024", "invalid_argument"},
    {SqlState::restored, "MR025", "restored"},
    {SqlState::tenant_disabled, "MR026", "tenant_disabled"},
    {SqlState::quota_exceeded, "MR027", "quota_exceeded"},
    {SqlState::upload_not_found, "MR028", "upload_not_found"},
    {SqlState::upload_conflict, "MR029", "upload_conflict"},
    {SqlState::object_exists, "MR030", "object_exists"},
    {SqlState::object_not_found, "MR031", "object_not_found"},
    {SqlState::maintenance, "MR032", "maintenance"},
    {SqlState::request_taken, "MR033", "request_taken"},
    {SqlState::tenant_not_found, "MR034", "tenant_not_found"},
    {SqlState::token_not_found, "MR035", "token_not_found"},
    {SqlState::profile_not_found, "MR036", "profile_not_found"},
    {SqlState::blob_stale, "MR037", "blob_stale"},
    {SqlState::upload_too_large, "MR038", "upload_too_large"},
    {SqlState::file_not_found, "MR039", "file_not_found"},
    {SqlState::version_changed, "MR040", "version_changed"},
    {SqlState::document_not_found, "MR041", "document_not_found"},
    {SqlState::document_busy, "MR042", "document_busy"},
    {SqlState::export_document_not_found, "MR043", "export_document_not_found"},
    {SqlState::operations_exhausted, "MR044", "operations_exhausted"},
    {SqlState::vectors_mismatch, "MR045", "vectors_mismatch"},
    {SqlState::generation_not_whole, "MR046", "generation_not_whole"},
    {SqlState::parse_not_awaited, "MR047", "parse_not_awaited"},
}};

}  // namespace

std::span<const SqlStateEntry> sqlstates() { return kStates; }

std::optional<SqlState> find_sqlstate(std::string_view code) {
  for (const auto& entry : kStates) {
    if (entry.code == code) return entry.state;
  }
  return std::nullopt;
}

// No default: a new code does not compile until its reaction is chosen.
ErrorKind kind_of(SqlState state) {
  switch (state) {
    case SqlState::lease_lost:
    case SqlState::worker_unknown:
      return ErrorKind::lease_lost;
    case SqlState::unknown_job_type:
    case SqlState::invalid_payload:
    case SqlState::payload_too_large:
    case SqlState::invalid_priority:
    case SqlState::invalid_schedule:
    case SqlState::invalid_cron:
    case SqlState::cost_over_limit:
    case SqlState::tenant_refused:
    case SqlState::invalid_settlement:
    case SqlState::invalid_policy:
    case SqlState::invalid_batch:
    case SqlState::invalid_dependency:
    case SqlState::invalid_configuration:
    case SqlState::invalid_argument:
    case SqlState::tenant_disabled:
    case SqlState::upload_too_large:
    case SqlState::vectors_mismatch:
      return ErrorKind::invalid_argument;
    case SqlState::unknown_queue:
    case SqlState::job_not_found:
    case SqlState::no_rate_limit:
    case SqlState::upload_not_found:
    case SqlState::object_not_found:
    case SqlState::tenant_not_found:
    case SqlState::token_not_found:
    case SqlState::profile_not_found:
    case SqlState::file_not_found:
    case SqlState::document_not_found:
    case SqlState::export_document_not_found:
      return ErrorKind::not_found;
    case SqlState::queue_full:
    case SqlState::quota_exceeded:
    case SqlState::operations_exhausted:
      return ErrorKind::throttled;
    case SqlState::job_is_final:
    case SqlState::idempotency_mismatch:
    case SqlState::immutable:
    case SqlState::restored:
    case SqlState::upload_conflict:
    case SqlState::object_exists:
    case SqlState::request_taken:
    case SqlState::version_changed:
    case SqlState::document_busy:
    case SqlState::generation_not_whole:
    case SqlState::parse_not_awaited:
      return ErrorKind::conflict;
    case SqlState::enqueue_disabled:
    case SqlState::maintenance:
    case SqlState::blob_stale:
      return ErrorKind::unavailable;
  }
  return ErrorKind::internal;
}

Error translate(Error error) {
  if (const auto state = find_sqlstate(error.sqlstate)) error.kind = kind_of(*state);
  return error;
}

}  // namespace millrace::store
