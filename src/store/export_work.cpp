#include "store/export_work.h"

#include "base/json_members.h"
#include "pg/pool.h"
#include "store/sqlstate.h"

#include <chrono>
#include <utility>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAcquire{10'000};
constexpr milliseconds kCall{30'000};
// Data of a document have a limit of their own (export.data_max_bytes); this is far above it.
constexpr JsonLimits kAnswerLimits{.max_bytes = std::size_t{64} * 1024 * 1024, .max_depth = 128};

Result<ExportWork> read_work(std::string_view text) {
  MR_TRY(const auto answer, parse_json_object(text, kAnswerLimits));
  ExportWork work;
  if (const auto* options = object_member(answer, "options")) work.options = *options;
  work.author = text_member(answer, "author");
  const auto* document = object_member(answer, "document");
  if (document == nullptr) return work;
  auto& out = work.document.emplace();
  MR_TRY(out.id, Uuid::parse(text_member(*document, "id")));
  out.version = static_cast<int>(int_member(*document, "version"));
  out.title = text_member(*document, "title");
  out.template_slug = text_member(*document, "templateSlug");
  if (const auto* data = object_member(*document, "data")) out.data = *data;
  return work;
}

class PgExportWorkStore final : public ExportWorkStore {
 public:
  explicit PgExportWorkStore(pg::Pool& pool) : pool_(pool) {}

  Task<ExportWork> export_work(JobId job) override {
    MR_CO_TRY(const auto text, co_await ask(MR_POINT("export_work"),
                                            "select millrace.export_work($1)", pg::params(job)));
    co_return read_work(text);
  }

  Task<ExportRoom> reserve_export(JobId job, std::int64_t size_bytes) override {
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("reserve_export"), "select millrace.reserve_export($1, $2)",
                           pg::params(job, size_bytes)));
    MR_CO_TRY(const auto answer, parse_json_object(text));
    const auto* allowed = answer.if_contains("allowed");
    co_return ExportRoom{.allowed = allowed != nullptr && allowed->is_bool() && allowed->get_bool(),
                         .file_path = text_member(answer, "filePath"),
                         .used_mb = number_member(answer, "usedMB"),
                         .limit_mb = number_member(answer, "limitMB")};
  }

 private:
  // The first column of the first row.
  Task<std::string> ask(fault::Point point, std::string sql, pg::Params params) {
    auto name = "mr_export_" + std::string(point.name);
    MR_CO_TRY(auto connection, co_await pool_.acquire(kAcquire, name));
    MR_CO_TRY(const auto rows,
              translate(co_await connection->prepared(std::move(name), std::move(sql),
                                                      std::move(params), {kCall, point})));
    co_return rows.rows() == 0 || rows[0].is_null(0) ? std::string() : std::string(rows[0].text(0));
  }

  pg::Pool& pool_;
};

}  // namespace

std::unique_ptr<ExportWorkStore> make_export_work_store(pg::Pool& pool) {
  return std::make_unique<PgExportWorkStore>(pool);
}

SqlStatement settle_export_statement(JobId job, const json::Object& item) {
  return {.sql = "select millrace.settle_export($1, $2)",
          .params = {job.to_string(), to_json(item)}};
}

}  // namespace millrace::store
