#include "store/api/exports.h"

#include "base/json.h"

#include <boost/json/object.hpp>

#include <span>
#include <utility>

namespace millrace::store {
namespace {

std::string request_json(const ExportOrder& order) {
  json::Object request{{"batch", order.batch}};
  if (!order.correlation_id.empty()) request["correlation_id"] = order.correlation_id;
  if (!order.traceparent.empty()) request["traceparent"] = order.traceparent;
  return to_json(request);
}

class PgExportStore final : public ExportStore {
 public:
  explicit PgExportStore(ApiSession& session) : session_(session) {}

  Task<std::string> order_exports(CallContext caller, ExportOrder order, RequestKey key) override {
    auto params = key_params(key);
    params.add(order.user).add_uuid_array(order.documents).add(order.options_json);
    params.add(request_json(order));
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_create_export"), Access::write,
        kept_effect("mr_api_order_exports", "select millrace.order_exports($4, $5, $6, $7)",
                    std::move(params)));
  }

  Task<std::vector<ExportFile>> export_files(CallContext caller, std::vector<JobId> jobs) override {
    pg::Params params;
    params.add_id_array(std::span<const JobId>(jobs));
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_export_read"), Access::read,
                                   {.sql = "select job_id, file_path, file_name"
                                           " from millrace.export_files($1)",
                                    .params = std::move(params),
                                    .name = "mr_api_export_files"}));
    std::vector<ExportFile> files;
    for (const auto row : rows) {
      files.push_back({.job = row.id<JobId>(0),
                       .path = std::string(row.text(1)),
                       .name = row.opt_text(2).value_or("")});
    }
    co_return files;
  }

  Task<void> count_downloads(CallContext caller, std::vector<JobId> jobs) override {
    pg::Params params;
    params.add_id_array(std::span<const JobId>(jobs));
    MR_CO_TRY_VOID(co_await session_.as(std::move(caller), MR_POINT("api_count_downloads"),
                                        Access::write,
                                        {.sql = "select millrace.count_downloads($1)",
                                         .params = std::move(params),
                                         .name = "mr_api_count_downloads"}));
    co_return ok();
  }

  Task<ExportPreview> export_preview(CallContext caller, JobId job) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_export_read"), Access::read,
                                   {.sql = "select p.j ->> 'store_key', p.j ->> 'sha256',"
                                           " (p.j ->> 'size_bytes')::bigint,"
                                           " p.j ->> 'content_type'"
                                           " from (select millrace.export_preview($1) as j) p",
                                    .params = pg::params(job),
                                    .name = "mr_api_export_preview"}));
    co_return ExportPreview{.store_key = std::string(rows[0].text(0)),
                            .sha256 = std::string(rows[0].text(1)),
                            .size_bytes = rows[0].i64(2),
                            .content_type = std::string(rows[0].text(3))};
  }

  Task<std::string> export_batch_jobs(CallContext caller, BatchId batch) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_export_read"), Access::read,
        {.sql = "select coalesce(json_agg(j), '[]')::text from millrace.export_batch_jobs($1) j",
         .params = pg::params(batch),
         .name = "mr_api_export_batch"});
  }

  Task<int> expire_exports(CallContext caller, int limit) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_expire_exports"), Access::write,
                                   {.sql = "select millrace.expire_exports($1)",
                                    .params = pg::params(limit),
                                    .name = "mr_api_expire_exports"}));
    co_return static_cast<int>(rows[0].i64(0));
  }

  Task<std::string> put_export_document(CallContext caller, ExportDocument document,
                                        RequestKey key) override {
    auto params = key_params(key);
    params.add(document.user).add(document.document).add(document.document_json);
    params.add(document.expected_version);
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_put_export_document"), Access::write,
        kept_effect("mr_api_put_export_document",
                    "select millrace.put_export_document($4, $5, $6, $7)", std::move(params)));
  }

  Task<std::string> get_export_document(CallContext caller, Uuid document,
                                        std::optional<int> version) override {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_export_read"),
                                        Access::read,
                                        {.sql = "select millrace.get_export_document($1, $2)::text",
                                         .params = pg::params(document, version),
                                         .name = "mr_api_get_export_document"});
  }

  Task<std::string> list_export_documents(CallContext caller, ExportDocumentList list) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_export_read"), Access::read,
        {.sql = "select coalesce(jsonb_agg(d), '[]')::text"
                " from millrace.list_export_documents($1, $2, $3) d",
         .params = pg::params(list.user, list.after, list.limit),
         .name = "mr_api_list_export_documents"});
  }

  Task<bool> delete_export_document(CallContext caller, Uuid user, Uuid document,
                                    std::optional<int> expected_version) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_delete_export_document"),
                                   Access::write,
                                   {.sql = "select millrace.delete_export_document($1, $2, $3)",
                                    .params = pg::params(user, document, expected_version),
                                    .name = "mr_api_delete_export_document"}));
    co_return rows[0].boolean(0);
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<ExportStore> make_export_store(ApiSession& session) {
  return std::make_unique<PgExportStore>(session);
}

}  // namespace millrace::store
