// StageJob: one job of a document as a stage sees it, and what all stages do alike.
#pragma once

#include "layout/page.h"
#include "pipeline/services.h"
#include "pipeline/stage_plan.h"
#include "worker/job_context.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace millrace::pipeline {

struct StageJob {
  Services& services;
  std::shared_ptr<worker::JobContext> context;
  store::DocumentWork work;
  std::shared_ptr<const Pipeline> pipeline;
  const Stage* stage = nullptr;  // Null for the outputs and for pictures.

  JobId id() const { return context->job().id; }
  store::Held held() const { return {.job = id(), .token = context->job().token}; }
  std::string_view type() const { return context->job().job_type; }
  int page() const { return work.page ? work.page->page : 0; }

  // An option of the stage in the pipeline file.
  std::string option(std::string_view name, std::string_view otherwise) const;
  double number(std::string_view name, double otherwise) const;
  sandbox::TaskLimits limits() const;
};

// Of one page as JSON. 50 000 words, more than a page may have, take about 12 MB of it.
inline constexpr std::uint64_t kPageBytesMax = std::uint64_t{16} * 1024 * 1024;
// Several pages in one job: more is no ordinary text, and each is then done alone.
inline constexpr std::uint64_t kGroupBytesMax = std::uint64_t{4} * 1024 * 1024;

// By a child. Waiting for a place among the readers is not running.
Task<sandbox::TaskResult> run_child(StageJob& job, sandbox::TaskSpec task);
// So much of the memory for pages, as long as the share is kept; it must outlive what it is for.
// Waiting for it is not running. `cancelled` when the job is.
Task<MemoryBudget::Share> take_memory(StageJob& job, std::uint64_t bytes);
// How a job ends whose content has crashed its readers before: nothing is started for it. Nothing:
// it may be read.
std::optional<Outcome> stopped_by_quarantine(const StageJob& job);
// Of the result of that stage for the job's page; 0 without one.
std::uint64_t result_bytes(const StageJob& job, RunKind kind);
// What a reader may answer of so much text, before anybody knows how much it is: a word takes 130
// bytes of JSON or more, whatever its length.
std::uint64_t answer_bytes(std::int64_t text_chars, std::uint64_t bytes_per_char);
// What the pages of the job's group are about, as JSON.
std::uint64_t group_bytes(const StageJob& job);

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
// What the stage has made of this page already, of the same that it would read now: by another run,
// before somebody started the job again. Null: there is none, or the page was given up.
const store::StageResult* made_already(const Pipeline& pipeline, const Stage& stage,
                                       const store::DocumentWork& work);

// What a stage made of a page, not yet stored.
struct PageMade {
  std::string bytes;
  json::Object meta;
  std::optional<json::Array> facts = {};  // As millrace.put_facts takes them.
};
// Or how the delivery ends without that.
using PageAnswer = std::variant<PageMade, Outcome>;

// Stores what was made of the page of the job and settles the job with it.
Task<Outcome> keep_page(StageJob& job, PageMade made);

// Several pages that one job is about.
struct GroupMade {
  struct One {
    const store::DocumentWork::GroupPage* page;
    PageMade made;
  };
  std::vector<One> done = {};
  std::vector<int> left = {};  // Get jobs of their own: each fails or succeeds by itself.
};
// The job as it would be if it were about one page of its group.
StageJob job_of_page(const StageJob& job, const store::DocumentWork::GroupPage& page);
// Stores them as one content and settles the job with all.
Task<Outcome> keep_group(StageJob& job, GroupMade made);

// Pieces of one content: {"offset","size_bytes","sha256"} of each.
struct Pack {
  std::string bytes;
  json::Object add(std::string_view piece);
};
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
Task<Outcome> run_parse(StageJob job);
Task<Outcome> run_validate(StageJob job);
Task<Outcome> run_chunk(StageJob job);
Task<Outcome> run_embed(StageJob job);
Task<Outcome> run_publish(StageJob job);
Task<Outcome> run_outputs(StageJob job);
Task<Outcome> run_image(StageJob job);
// By a program or an address of the author's.
Task<Outcome> run_authors(StageJob job);
// The job of a group of pages.
Task<Outcome> run_group(StageJob job);
Task<GroupMade> read_group(StageJob& job);
Task<GroupMade> detect_group(StageJob& job);
Task<GroupMade> extract_group(StageJob& job);
// A stage per page that has been reached: its pages are begun.
Task<Outcome> run_spread(StageJob job);

}  // namespace millrace::pipeline
