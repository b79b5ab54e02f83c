#include "api/routes/export_batch_state.h"

#include <boost/json/array.hpp>

#include <algorithm>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::string_view kNamePrefix = "export ";
constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};

std::int64_t progress_of(const json::Object& job) {
  if (export_status(job) == "completed") return 100;
  const auto* progress = job.if_contains("progress");
  return progress != nullptr && progress->is_int64() ? progress->get_int64() : 0;
}

bool has_ended(const json::Object& job) {
  const auto status = export_status(job);
  return status == "completed" || status == "failed" || status == "cancelled";
}

json::Object job_json(const json::Object& job) {
  json::Object out{{"jobId", text_at(job, "job_id")},
                   {"documentId", exported_document(job)},
                   {"status", export_status(job)},
                   {"progress", progress_of(job)},
                   {"error", nullptr}};
  if (const auto* error = job.if_contains("error"); error != nullptr && error->is_object()) {
    out["error"] = text_at(error->get_object(), "message");
  }
  return out;
}

}  // namespace

json::Value exported_document(const json::Object& job) {
  const auto name = text_at(job, "job_name");
  if (!name.starts_with(kNamePrefix)) return nullptr;
  return json::Value(name.substr(kNamePrefix.size()));
}

Task<std::vector<json::Object>> export_batch_jobs(store::CallContext caller,
                                                  ExportServices services, BatchId batch) {
  MR_CO_TRY(const auto text, co_await services.exports.export_batch_jobs(std::move(caller), batch));
  MR_CO_TRY(const auto list, parse_json(text, kAnswerLimits));
  std::vector<json::Object> jobs;
  for (const auto& job : list.as_array()) jobs.push_back(job.as_object());
  if (jobs.empty()) co_return fail(ErrorKind::not_found, std::string(kNoExportBatch));
  co_return jobs;
}

json::Object export_batch_json(BatchId batch, const std::vector<json::Object>& jobs) {
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t progress = 0;
  json::Array list;
  for (const auto& job : jobs) {
    if (export_status(job) == "completed") {
      ++completed;
    } else if (has_ended(job)) {
      ++failed;
    }
    progress += progress_of(job);
    list.push_back(job_json(job));
  }
  const auto total = static_cast<std::int64_t>(jobs.size());
  return {{"batchId", batch.to_string()},
          {"totalCount", total},
          {"completedCount", completed},
          {"failedCount", failed},
          {"finished", completed + failed == total},
          {"progress", 100 * completed / total},
          {"meanProgress", progress / total},
          {"jobs", std::move(list)}};
}

std::string export_batch_end(const std::vector<json::Object>& jobs) {
  if (!std::ranges::all_of(jobs, has_ended)) return {};
  // The latest end: a job that is started again and ends once more ends later.
  std::string latest;
  for (const auto& job : jobs) latest = std::max(latest, text_at(job, "finished_at"));
  std::string mark;
  std::ranges::copy_if(latest, std::back_inserter(mark),
                       [](char c) { return c >= '0' && c <= '9'; });
  return mark.empty() ? "0" : mark;
}

std::vector<json::Object> completed_exports(const std::vector<json::Object>& jobs) {
  std::vector<json::Object> out;
  std::ranges::copy_if(jobs, std::back_inserter(out),
                       [](const json::Object& job) { return export_status(job) == "completed"; });
  return out;
}

Reply export_partial_reply(const Call& call, const std::vector<JobId>& there, std::size_t total) {
  json::Array ids;
  for (const auto& job : there) ids.emplace_back(job.to_string());
  return Reply::json(json::Object{{"status", 409},
                                  {"message", "Batch partially complete"},
                                  {"details", json::Object{{"completedCount", there.size()},
                                                           {"totalCount", total},
                                                           {"completedJobs", std::move(ids)}}},
                                  {"code", "partial"},
                                  {"cid", call.request.correlation_id}},
                     409);
}

}  // namespace millrace::api
