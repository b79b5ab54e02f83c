#include "store/api/evidence.h"

#include <utility>

namespace millrace::store {
namespace {

class PgEvidenceStore final : public EvidenceStore {
 public:
  PgEvidenceStore(ApiSession& session, ApiSession& apart) : session_(session), apart_(apart) {}

  Task<std::string> list_audit(CallContext caller, AuditQuery query) override {
    pg::Params params;
    params.add(query.before_at).add(query.before_id).add(query.action).add(query.table_name);
    params.add(query.record_id).add(query.patient).add(query.limit);
    co_return co_await read(std::move(caller),
                            {.sql = "select millrace.list_audit($1, $2, $3, $4, $5, $6, $7)",
                             .params = std::move(params),
                             .name = "mr_api_list_audit"});
  }

  Task<std::string> job_audit(CallContext caller, JobId job) override {
    co_return co_await read(
        std::move(caller),
        rows_as_json("mr_api_job_audit", "select * from millrace.job_audit($1)", pg::params(job)));
  }

  Task<std::string> verify_audit(CallContext caller, std::optional<std::string> after_json,
                                 int limit) override {
    co_return co_await apart_.text_as(std::move(caller), MR_POINT("api_audit_read"), Access::read,
                                      {.sql = "select millrace.verify_audit_page($1, $2)",
                                       .params = pg::params(after_json, limit),
                                       .name = "mr_api_verify_audit"});
  }

  Task<std::string> log_audit_event(CallContext caller, NewAuditEntry entry,
                                    RequestKey key) override {
    auto params = key_params(key);
    params.add(entry.table_name).add(entry.record_id).add(entry.operation);
    params.add(entry.old_values_json).add(entry.new_values_json).add(entry.reason);
    params.add(entry.category).add(entry.patient);
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_audit_write"), Access::write,
        kept_effect("mr_api_log_audit",
                    "select jsonb_build_object('audit_id',"
                    " millrace.log_audit_event($4, $5, $6, $7, $8, $9, $10, $11))",
                    std::move(params)));
  }

 private:
  Task<std::string> read(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_audit_read"), Access::read,
                                        std::move(statement));
  }

  ApiSession& session_;
  ApiSession& apart_;
};

}  // namespace

std::unique_ptr<EvidenceStore> make_evidence_store(ApiSession& session, ApiSession* apart) {
  return std::make_unique<PgEvidenceStore>(session, apart == nullptr ? session : *apart);
}

}  // namespace millrace::store
