// The SQLSTATEs that the SQL functions raise: code, name, and how to react.
//
// The table millrace.sqlstate, docs/sqlstates.md and this enum list the same codes; a test compares
// them.
#pragma once

#include "base/result.h"

#include <optional>
#include <span>
#include <string_view>

namespace millrace::store {

// Named as in millrace.sqlstate.
enum class SqlState {
  lease_lost,
  unknown_job_type,
  invalid_payload,
  payload_too_large,
  invalid_priority,
  invalid_schedule,
  unknown_queue,
  queue_full,
  job_not_found,
  job_is_final,
  idempotency_mismatch,
  invalid_cron,
  no_rate_limit,
  cost_over_limit,
  tenant_refused,
  invalid_settlement,
  invalid_policy,
  invalid_batch,
  invalid_dependency,
  invalid_configuration,
  enqueue_disabled,
  immutable,
  worker_unknown,
  invalid_argument,
  restored,
  tenant_disabled,
  quota_exceeded,
  upload_not_found,
  upload_conflict,
  object_exists,
  object_not_found,
  maintenance,
  request_taken,
  tenant_not_found,
  token_not_found,
  profile_not_found,
  blob_stale,
  upload_too_large,
  file_not_found,
  version_changed,
  document_not_found,
  document_busy,
  export_document_not_found,
  operations_exhausted,
  vectors_mismatch,
  generation_not_whole,
  parse_not_awaited,
};

struct SqlStateEntry {
  SqlState state;
  std::string_view code;  // "MR001".
  std::string_view name;
};

std::span<const SqlStateEntry> sqlstates();
std::optional<SqlState> find_sqlstate(std::string_view code);
ErrorKind kind_of(SqlState state);

// The error with the kind that its MR code stands for; others pass unchanged.
Error translate(Error error);

template <class T>
Result<T> translate(Result<T> result) {
  if (result.has_value()) return result;
  return std::unexpected(translate(std::move(result).error()));
}

}  // namespace millrace::store
