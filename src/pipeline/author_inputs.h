// What a stage of the author's is told: the job as any program gets it, and with it the document,
// the page, the options of the stage and what it requires of the stages before it.
//
//   {"job_id": …, "payload": …, "document": {"id", "file_name", "kind", "mime", "page_count"},
//    "page": 3, "options": {…}, "inputs": {"text": "…", "map": {…}}}
//
// For the job of a page an input is what was made of that page. For the job of the document, what
// was made page by page is a list of {"page", "content"}, in order, without the pages that have
// none.
#pragma once

#include "pipeline/stage_job.h"

#include <cstddef>
#include <string>

namespace millrace::pipeline {

// All inputs of one job together. What needs more works page by page, or asks for the text alone.
inline constexpr std::size_t kInputsMaxBytes = std::size_t{32} * 1024 * 1024;

// invalid_argument: they are too large; not_found: the page lacks one.
Task<std::string> author_input(StageJob& job);

}  // namespace millrace::pipeline
