// The next stage as the settling functions take it (millrace.start_stage): which jobs, for which
// pages, and what comes when all of them have ended.
//
// Stages run one after the other in the order of the pipeline, which puts each behind all it waits
// for. Behind the last one the outputs are made: a stage that no file names.
#pragma once

#include "base/json.h"
#include "pipeline/definition/definition.h"

#include <string>
#include <string_view>

namespace millrace::pipeline {

inline constexpr std::string_view kOutputsType = "document_outputs";
inline constexpr std::string_view kImageType = "document_image";
// So many letters of its own from which a page of a file is taken to bring its text.
inline constexpr int kOwnTextChars = 20;

// {"stage", "each", "version", "inputs", "job", "next"} of the stage behind this one.
json::Value plan_after(const Pipeline& pipeline, std::string_view stage);
// Of the stage itself: for the job of a stage per page that names no page.
json::Value plan_of(const Pipeline& pipeline, const Stage& stage);
// The job of the stage behind this one, for the whole document.
json::Object job_after(const Pipeline& pipeline, std::string_view stage);
// The stage before it when that works page by page: its pages have ended. Null: it does not.
const Stage* pages_before(const Pipeline& pipeline, std::string_view stage);

// The job of the stage, for the whole document, as millrace.enqueue_jobs takes it.
json::Object job_of(const Stage& stage);

// Of a stage that reads pages: "auto", "text" or "ocr".
std::string_view mode_of(const Stage& stage);
// A program or an address of the author's, not one of ours.
bool is_authors(const Stage& stage);
// Its results are of single pages: it works page by page, or looks at all and tells of each.
bool makes_page_results(const Stage& stage);

// The first stage that does this; null: none does.
const Stage* stage_doing(const Pipeline& pipeline, RunKind kind);

// Changes whenever the stage would make something else of the same input: the pipeline's words for
// it, and the version of the code that runs it.
std::string stage_version(const Stage& stage);

}  // namespace millrace::pipeline
