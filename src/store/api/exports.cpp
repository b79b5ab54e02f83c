#include "store/api/exports.h"

#include <utility>

namespace millrace::store {
namespace {

class PgExportStore final : public ExportStore {
 public:
  explicit PgExportStore(ApiSession& session) : session_(session) {}

  Task<JobId> create_export_job(CallContext caller, NewExport wanted) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(
                  std::move(caller), MR_POINT("api_create_export"), Access::write,
                  {.sql = "select millrace.create_export_job($1, $2, $3)",
                   .params = pg::params(wanted.user, wanted.document, wanted.options_json),
                   .name = "mr_api_create_export"}));
    co_return rows[0].id<JobId>(0);
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<ExportStore> make_export_store(ApiSession& session) {
  return std::make_unique<PgExportStore>(session);
}

}  // namespace millrace::store
