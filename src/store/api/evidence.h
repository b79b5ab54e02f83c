// EvidenceStore: the audit, as a caller may read it, and entries of a client's own.
// Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/requests.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::store {

struct AuditQuery {
  // Newest first, behind the entry that the last page ended with.
  std::optional<std::string> before_at = {};
  std::int64_t before_id = 0;
  std::optional<std::string> action = {};
  std::optional<std::string> table_name = {};
  std::optional<std::string> record_id = {};
  std::optional<Uuid> patient = {};
  int limit = 100;  // 1 to 1000.
};

struct NewAuditEntry {
  std::string table_name;
  std::string record_id;
  std::string operation;
  std::optional<std::string> old_values_json = {};
  std::optional<std::string> new_values_json = {};
  std::optional<std::string> reason = {};
  std::string category = "system";
  std::optional<Uuid> patient = {};
};

class EvidenceStore {
 public:
  virtual ~EvidenceStore() = default;

  // {"items": [...], "more": bool, "last_at", "last_id"}: the next page begins behind the last. A
  // page may be short, or empty, with more to come.
  virtual Task<std::string> list_audit(CallContext caller, AuditQuery query) = 0;
  // The whole history of one job, rebuilt from the audit. MR009.
  virtual Task<std::string> job_audit(CallContext caller, JobId job) = 0;
  // What is wrong with the chains of the caller's tenant, or of all, in pieces of bounded cost:
  // {"problems": [...], "next": {...} or null}; `after_json` is "next" of the piece before.
  virtual Task<std::string> verify_audit(CallContext caller, std::optional<std::string> after_json,
                                         int limit) = 0;
  // Its number, as the JSON that is kept: {"audit_id"}.
  virtual Task<std::string> log_audit_event(CallContext caller, NewAuditEntry entry,
                                            RequestKey key) = 0;
};

// `apart`: for the call that takes long, so that it holds up no other; outlives it too.
std::unique_ptr<EvidenceStore> make_evidence_store(ApiSession& session,
                                                   ApiSession* apart = nullptr);

}  // namespace millrace::store
