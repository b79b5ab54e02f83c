// StageJob: one job of a document as a stage sees it, and what all stages do alike.
#pragma once

#include "layout/page.h"
#include "pipeline/services.h"
#include "pipeline/stage_plan.h"
#include "worker/job_context.h"

#include <memory>
#include <string>
#include <string_view>

namespace millrace::pipeline {

struct StageJob {
  Services& services;
  std::shared_ptr<worker::JobContext> context;
  store::DocumentWork work;
  std::shared_ptr<const Pipeline> pipeline;
  const Stage* stage = nullptr;  // Null for the outputs and for pictures.

  JobId id() const { return context->job().id; }
  std::string_view type() const { return context->job().job_type; }
  int page() const { return work.page ? work.page->page : 0; }

  // An option of the stage in the pipeline file.
  std::string option(std::string_view name, std::string_view otherwise) const;
  double number(std::string_view name, double otherwise) const;
  sandbox::TaskLimits limits() const;
};

// Pages are kept without their number: the same page elsewhere in another document is the same
// content. Whoever reads one says which it is.
inline constexpr std::uint32_t kKeptPage = 1;

Task<layout::PageMap> load_page(Services& services, const store::StageResult& result,
                                std::uint32_t number);
// The result of a stage for this page; not_found when the page has none.
Result<const store::StageResult*> result_of(const StageJob& job, RunKind kind);

// What the result of this page depends on, as millrace.reuse_keys computes it.
std::string reuse_key(const Pipeline& pipeline, const Stage& stage,
                      const store::DocumentWork& work);

// A page's result, stored and ready for settle_page: {"page","stage","reuse_key","blob","meta"}.
Task<json::Object> keep_page(StageJob& job, std::string bytes, json::Object meta);

// Settles the job with a page's result.
Outcome settled_page(StageJob& job, json::Object item);
// Settles the job of a whole document: results, outputs, summary.
Outcome settled_stage(StageJob& job, json::Object item);

std::string sha256_hex(std::string_view text);

// The stages.
Task<Outcome> run_scan(StageJob job);
Task<Outcome> run_ocr(StageJob job);
Task<Outcome> run_spatial(StageJob job);
Task<Outcome> run_detect(StageJob job);
Task<Outcome> run_extract(StageJob job);
Task<Outcome> run_narrate(StageJob job);
Task<Outcome> run_outputs(StageJob job);
Task<Outcome> run_image(StageJob job);
// By a program or an address of the author's.
Task<Outcome> run_authors(StageJob job);
// A stage per page that has been reached: its pages are begun.
Task<Outcome> run_spread(StageJob job);

}  // namespace millrace::pipeline
