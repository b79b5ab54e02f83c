// next_step: what comes next for a document, from its pipeline and from what has ended so far.
//
// Pure: whoever settles a job reads what is known of the document (under its lock), asks, and
// starts what the answer says in the same transaction. Asked twice with the same progress it
// answers the same, so a crash between two steps costs nothing.
//
// The rules:
// - A stage starts when all it waits for has ended; a stage per page has ended when each page that
//   is not given up has.
// - A page that failed at any stage is given up: later stages make no job for it, stages for the
//   document work with the others.
// - The document fails when a stage for the document fails, when all pages are given up, or when a
//   page is given up at a stage with on_page_failure = "fail"; it is rejected when its scan refuses
//   it. Nothing starts from then on, and it ends when nothing runs any more.
// - Otherwise it ends when all stages have: completed, or partial when pages were given up.
#pragma once

#include "base/result.h"
#include "pipeline/definition/definition.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::pipeline {

// What a stage has come to, for the document or for one page.
enum class WorkState { waiting, running, done, failed, refused };

// Of a stage for the whole document.
inline constexpr int kWholeDocument = 0;

struct Progress {
  std::vector<int> pages = {};  // Numbers from 1; empty until they are counted.
  // By stage and page; what is missing waits. A result that is taken over from before is done.
  std::map<std::pair<std::string, int>, WorkState> work = {};

  WorkState of(const std::string& stage, int page) const;
};

struct Start {
  std::string stage;
  std::vector<int> pages = {};  // Ascending; empty for a stage for the document.

  friend bool operator==(const Start&, const Start&) = default;
};

enum class DocumentEnd { completed, partial, failed, rejected };

std::string_view to_string(DocumentEnd end);

struct NextStep {
  std::vector<Start> starts = {};  // In the order of the stages.
  std::optional<DocumentEnd> end = {};
  std::string reason = {};         // Why it fails or is rejected; names the stage.
  std::vector<int> given_up = {};  // Pages that failed, ascending.

  friend bool operator==(const NextStep&, const NextStep&) = default;
};

struct PlanOptions {
  // One stage of a document after the other, although others could start too.
  bool one_at_a_time = false;
};

// Everything that can start now: for a document that begins, is retried or resumed.
NextStep next_step(const Pipeline& pipeline, const Progress& progress, PlanOptions options = {});

// The same when a stage, or a page of it, has ended: only what comes behind that stage.
// invalid_argument when the pipeline has no such stage.
Result<NextStep> next_step_after(const Pipeline& pipeline, std::string_view finished_stage,
                                 const Progress& progress, PlanOptions options = {});

}  // namespace millrace::pipeline
