// What the stages of the author's made, as a file: results.jsonl, a line for each page and stage,
// and one for each stage of the document: {"stage", "page", "result"}. None where there is no such
// stage.
#pragma once

#include "pipeline/output_files.h"
#include "pipeline/run_record.h"
#include "pipeline/stage_job.h"

namespace millrace::pipeline {

Task<void> write_author_results(StageJob& job, const RunRecord& record, OutputFiles& files);

}  // namespace millrace::pipeline
