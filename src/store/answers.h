// What the SQL functions of the worker answer, from rows and JSON into plain values.
//
// A row that lacks a column or holds another type throws pg::RowError: then schema and program do
// not belong together. JSON is read with care instead, since it has no types to rely on.
#pragma once

#include "base/result.h"
#include "model/settlement.h"
#include "pg/result_set.h"
#include "store/job_store.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace millrace::store {

// The answer of millrace.beat_worker. Errors are internal.
Result<BeatAnswer> read_beat_answer(std::string_view text);

// A row of millrace.claim_jobs: a job with a lease of its own, or what the jobs of a claim have in
// common, without an id.
ClaimedJob read_claimed(const pg::Row& row, const std::string& queue);

using AnswerMap = std::unordered_map<JobId, Answer>;

// The rows (job_id, answer) of complete_jobs and settle_jobs.
Result<void> read_answers(const pg::ResultSet& rows, AnswerMap& answers);

}  // namespace millrace::store
