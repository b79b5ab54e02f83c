// AdminStore's calls for jobs that come from, or go back to, another queue's tables.
#include "store/admin_store.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace millrace::store {
namespace {

// Every live job of the source is looked at.
constexpr std::chrono::milliseconds kReportTimeout{1'800'000};
constexpr std::chrono::milliseconds kBatchTimeout{300'000};
constexpr JsonLimits kReportLimits{.max_bytes = 64 * 1024 * 1024};

// Somebody else was faster, and nothing was done: the next attempt finds other rows.
bool is_collision(const Error& error) {
  return error.sqlstate == "40001" || error.sqlstate == "40P01";
}

}  // namespace

Result<json::Array> AdminStore::import_report(const ImportRequest& request) {
  pg::Params params;
  params.add(request.source).add(request.schema).add_json(request.map);
  MR_TRY(const auto result,
         call("select coalesce(jsonb_agg(to_jsonb(r)), '[]')::text as list"
              " from millrace.import_report($1, $2, $3::jsonb) r",
              std::move(params), {kReportTimeout, MR_POINT("import_report"), true}));
  MR_TRY(auto value, parse_json(result[0].text("list"), kReportLimits));
  return std::move(value.as_array());
}

Result<std::vector<ImportAnswer>> AdminStore::import_answers(const std::string& sql,
                                                             const pg::Params& params) {
  constexpr int kTries = 5;
  for (int attempt = 1;; ++attempt) {
    const auto result = call(sql, params, {kBatchTimeout, MR_POINT("import_move")});
    if (!result) {
      if (is_collision(result.error()) && attempt < kTries) continue;
      return fail(result.error());
    }
    std::vector<ImportAnswer> out;
    for (const auto row : *result) {
      ImportAnswer answer{.source_type = std::string(row.text("source_type")),
                          .source_id = std::string(row.text("source_id")),
                          .job = std::nullopt,
                          .reason = row.opt_text("reason").value_or("")};
      if (!row.is_null("job_id")) answer.job = row.id<JobId>("job_id");
      out.push_back(std::move(answer));
    }
    return out;
  }
}

Result<std::vector<ImportAnswer>> AdminStore::import_batch(
    const ImportRequest& request, std::int64_t limit, const std::vector<std::string>& skip,
    const std::vector<std::string>& skip_types) {
  pg::Params params;
  params.add(request.source).add(request.schema).add(limit).add_json(request.map);
  params.add_array(skip).add_array(skip_types);
  return import_answers(
      "select b.source_type, b.source_id, b.job_id, b.reason"
      " from millrace.import_batch($1, $2, $3::integer, $4::jsonb, $5::text[], $6::text[]) b",
      params);
}

Result<json::Array> AdminStore::imports_overview(const ImportRequest& request) {
  return rows("select o.* from millrace.imports_overview($1, $2) o",
              pg::params(request.source, request.schema));
}

Result<std::vector<ImportAnswer>> AdminStore::import_undo(const ImportRequest& request,
                                                          std::int64_t limit) {
  return import_answers(
      "select b.source_type, b.source_id, b.job_id, b.reason"
      " from millrace.import_undo($1, $2, $3::integer) b",
      pg::params(request.source, request.schema, limit));
}

}  // namespace millrace::store
