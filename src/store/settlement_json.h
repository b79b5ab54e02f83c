// The JSON that settle_jobs, complete_jobs, report_progress and append_logs take.
#pragma once

#include "model/settlement.h"
#include "store/job_store.h"

#include <span>
#include <string>
#include <vector>

namespace millrace::store {

// [{"job_id", "token", "outcome", ...}] of settle_jobs.
std::string settlements_json(std::span<const Settlement* const> settlements);
// [result or null, ...] of complete_jobs; empty when no job has a result.
std::string results_json(std::span<const Settlement* const> settlements);
std::string progress_json(std::span<const ProgressItem> items);
std::string logs_json(std::span<const JobLogItem> items);
// {"type:tenant:priority": ready_seq}
std::string marks_json(const Marks& marks);

}  // namespace millrace::store
