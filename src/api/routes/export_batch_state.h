// A batch of exports as its owner sees it: its jobs, how far each is, and all of them together.
#pragma once

#include "api/call.h"
#include "api/routes/exports.h"
#include "base/uuid.h"

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace millrace::api {

// Its jobs, in the order of the documents, as far as the caller may see them; none looks like no
// batch: not_found in the words of the source.
Task<std::vector<json::Object>> export_batch_jobs(store::CallContext caller,
                                                  ExportServices services, BatchId batch);

// both kinds of progress, with the jobs.
json::Object export_batch_json(BatchId batch, const std::vector<json::Object>& jobs);
// Digits that name the end of all of them; empty while any is under way.
std::string export_batch_end(const std::vector<json::Object>& jobs);

std::vector<json::Object> completed_exports(const std::vector<json::Object>& jobs);
// The document's id is in the name of its job, as millrace.export_spec has it; null without one.
json::Value exported_document(const json::Object& job);

// the source's body, with a status that does not mean a range of bytes. `there`: the jobs
// whose files can be had; of others they are still to come, or expired or deleted.
Reply export_partial_reply(const Call& call, const std::vector<JobId>& there, std::size_t total);

inline constexpr std::string_view kNoExportBatch = "Batch not found or incomplete";

}  // namespace millrace::api
