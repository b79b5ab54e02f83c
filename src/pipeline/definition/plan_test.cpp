// What comes next: small cases by name, and every possible course of small documents.
#include "pipeline/definition/plan.h"

#include "pipeline/definition/parse.h"
#include "pipeline/definition/pipeline_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millrace::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum WorkState;

Pipeline parse(const std::string& text) {
  auto checked = parse_pipeline(text);
  for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("p.toml");
  return checked.pipeline.value_or(Pipeline{});
}

const Pipeline& guardian() {
  static const Pipeline pipeline = parse(std::string(built_in_text("guardian.toml")));
  return pipeline;
}

// scan, then two branches per page, then one stage for all.
const Pipeline& diamond() {
  static const Pipeline pipeline = parse(R"(
name = "diamond"
version = "1.0.0"
[[stage]]
name = "scan"
run = "scan"
[[stage]]
name = "read"
run = "ocr"
[[stage]]
name = "label"
run = "exec:label"
each = "page"
after = ["scan"]
[[stage]]
name = "join"
run = "exec:join"
after = ["read", "label"]
)");
  return pipeline;
}

const Pipeline& strict() {
  static const Pipeline pipeline = [] {
    auto changed = diamond();
    changed.stages[1].on_page_failure = OnPageFailure::fail;
    return changed;
  }();
  return pipeline;
}

// Ends with a stage per page, whose end nobody waits for.
const Pipeline& open_end() {
  static const Pipeline pipeline = parse(
      "name = \"open\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"scan\"\nrun = "
      "\"scan\"\n[[stage]]\nname = "
      "\"read\"\nrun = \"ocr\"\n");
  return pipeline;
}

TEST(Plan, ADocumentBeginsWithTheFirstStage) {
  const auto step = next_step(guardian(), {});
  EXPECT_THAT(step.starts, ElementsAre(Start{"fast_queue_security"}));
  EXPECT_FALSE(step.end);
}

TEST(Plan, TheScanFansOutToAllPages) {
  const Progress progress{.pages = {3, 1, 2}, .work = {{{"fast_queue_security", 0}, done}}};
  const auto step = next_step_after(guardian(), "fast_queue_security", progress);
  ASSERT_TRUE(step);
  EXPECT_THAT(step->starts, ElementsAre(Start{"fast_queue_ocr", {1, 2, 3}}));
}

TEST(Plan, TheNextStageWaitsForTheLastPage) {
  Progress progress{.pages = {1, 2},
                    .work = {{{"fast_queue_security", 0}, done},
                             {{"fast_queue_ocr", 1}, done},
                             {{"fast_queue_ocr", 2}, running}}};
  EXPECT_EQ(next_step(guardian(), progress), NextStep{});
  progress.work[{"fast_queue_ocr", 2}] = done;
  EXPECT_THAT(next_step(guardian(), progress).starts, ElementsAre(Start{"fast_queue_spatial"}));
}

// G-05: partial success is a state.
TEST(Plan, AFailedPageIsGivenUpAndTheOthersGoOn) {
  const Progress progress{.pages = {1, 2, 3},
                          .work = {{{"fast_queue_security", 0}, done},
                                   {{"fast_queue_ocr", 1}, done},
                                   {{"fast_queue_ocr", 2}, failed},
                                   {{"fast_queue_ocr", 3}, done},
                                   {{"fast_queue_spatial", 0}, done}}};
  const auto step = next_step(guardian(), progress);
  EXPECT_THAT(step.starts, ElementsAre(Start{"ai_queue_pass1", {1, 3}}));
  EXPECT_THAT(step.given_up, ElementsAre(2));
  EXPECT_FALSE(step.end);
}

TEST(Plan, ResultsThatAreThereAlreadyNeedNoJob) {
  Progress progress{.pages = {1, 2},
                    .work = {{{"fast_queue_security", 0}, done}, {{"fast_queue_ocr", 1}, done}}};
  EXPECT_THAT(next_step(guardian(), progress).starts, ElementsAre(Start{"fast_queue_ocr", {2}}));
  progress.work[{"fast_queue_ocr", 2}] = done;
  progress.work[{"fast_queue_spatial", 0}] = done;
  progress.work[{"ai_queue_pass1", 1}] = done;
  progress.work[{"ai_queue_pass1", 2}] = done;
  EXPECT_THAT(next_step(guardian(), progress).starts, ElementsAre(Start{"ai_queue_pass2", {1, 2}}));
}

TEST(Plan, ARetriedPageGoesOnWhereItFailed) {
  Progress progress{.pages = {1, 2},
                    .work = {{{"scan", 0}, done},
                             {{"read", 1}, done},
                             {{"read", 2}, failed},
                             {{"label", 1}, done},
                             {{"label", 2}, done},
                             {{"join", 0}, done}}};
  EXPECT_EQ(next_step(diamond(), progress).end, DocumentEnd::partial);
  progress.work.erase({"read", 2});
  progress.work.erase({"join", 0});  // It was made without the page.
  const auto step = next_step(diamond(), progress);
  EXPECT_THAT(step.starts, ElementsAre(Start{"read", {2}}));
  EXPECT_FALSE(step.end);
}

TEST(Plan, ARefusedDocumentIsRejected) {
  const auto step =
      next_step(guardian(), {.pages = {}, .work = {{{"fast_queue_security", 0}, refused}}});
  EXPECT_EQ(step.end, DocumentEnd::rejected);
  EXPECT_EQ(step.reason, "fast_queue_security refused the document");
  EXPECT_THAT(step.starts, IsEmpty());
}

TEST(Plan, AStageForTheDocumentThatFailsFailsIt) {
  const auto step = next_step(
      diamond(),
      {.pages = {1},
       .work = {
           {{"scan", 0}, done}, {{"read", 1}, done}, {{"label", 1}, done}, {{"join", 0}, failed}}});
  EXPECT_EQ(step.end, DocumentEnd::failed);
  EXPECT_EQ(step.reason, "join failed");
}

TEST(Plan, AllPagesGivenUpFailTheDocumentBeforeItIsJoined) {
  const auto step = next_step(diamond(), {.pages = {1, 2},
                                          .work = {{{"scan", 0}, done},
                                                   {{"read", 1}, failed},
                                                   {{"read", 2}, done},
                                                   {{"label", 1}, done},
                                                   {{"label", 2}, failed}}});
  EXPECT_EQ(step.end, DocumentEnd::failed);
  EXPECT_EQ(step.reason, "all pages failed");
  EXPECT_THAT(step.given_up, ElementsAre(1, 2));
}

TEST(Plan, OnPageFailureFailStopsAndWaitsForWhatRuns) {
  Progress progress{.pages = {1, 2},
                    .work = {{{"scan", 0}, done}, {{"read", 1}, failed}, {{"read", 2}, running}}};
  auto step = next_step(strict(), progress);
  EXPECT_THAT(step.starts, IsEmpty());  // Not even the labels.
  EXPECT_FALSE(step.end);
  EXPECT_EQ(step.reason, "read failed at page 1");
  progress.work[{"read", 2}] = done;
  step = next_step(strict(), progress);
  EXPECT_EQ(step.end, DocumentEnd::failed);
}

TEST(Plan, BranchesStartTogetherOrOneAfterTheOther) {
  Progress progress{.pages = {1}, .work = {{{"scan", 0}, done}}};
  EXPECT_THAT(next_step(diamond(), progress).starts,
              ElementsAre(Start{"read", {1}}, Start{"label", {1}}));
  const PlanOptions single{.one_at_a_time = true};
  EXPECT_THAT(next_step(diamond(), progress, single).starts, ElementsAre(Start{"read", {1}}));
  progress.work[{"read", 1}] = running;
  EXPECT_THAT(next_step(diamond(), progress, single).starts, IsEmpty());
  progress.work[{"read", 1}] = done;
  EXPECT_THAT(next_step_after(diamond(), "read", progress, single)->starts,
              ElementsAre(Start{"label", {1}}));
}

TEST(Plan, AfterAStageOnlyWhatComesBehindIt) {
  const Progress progress{.pages = {1}, .work = {{{"scan", 0}, done}, {{"read", 1}, done}}};
  EXPECT_THAT(next_step(diamond(), progress).starts, ElementsAre(Start{"label", {1}}));
  EXPECT_THAT(next_step_after(diamond(), "read", progress)->starts, IsEmpty());
  EXPECT_THAT(next_step_after(diamond(), "scan", progress)->starts,
              ElementsAre(Start{"label", {1}}));
  EXPECT_FALSE(next_step_after(diamond(), "gone", progress));
}

TEST(Plan, ADocumentWithoutPagesPassesStagesPerPage) {
  const Progress progress{.pages = {}, .work = {{{"scan", 0}, done}}};
  EXPECT_THAT(next_step(diamond(), progress).starts, ElementsAre(Start{"join"}));
  EXPECT_EQ(next_step(open_end(), progress).end, DocumentEnd::completed);
}

// Walks through every course a document can take: any running piece of work may end next, in any of
// the ways it can.
class EveryCourse {
 public:
  EveryCourse(const Pipeline& pipeline, std::vector<int> pages, PlanOptions options)
      : pipeline_(pipeline), pages_(std::move(pages)), options_(options) {}

  std::size_t walk() {
    start({}, next_step(pipeline_, {}, options_));
    return seen_.size();
  }
  const std::set<DocumentEnd>& ends() const { return ends_; }

 private:
  using Work = std::map<std::pair<std::string, int>, WorkState>;

  // Starts what was said, then goes on from each way one of the running pieces can end.
  void start(Progress progress, const NextStep& step) {
    for (const auto& begun : step.starts) {
      const auto& stage = *pipeline_.find(begun.stage);
      ASSERT_EQ(begun.pages.empty(), stage.each == Each::document);
      for (const auto page : begun.pages.empty() ? std::vector<int>{0} : begun.pages) {
        const auto [entry, is_new] = progress.work.try_emplace({begun.stage, page}, running);
        ASSERT_TRUE(is_new) << begun.stage << " starts twice for page " << page;
        check_start(progress, stage, page);
      }
    }
    if (!seen_.insert(progress.work).second) return;
    check_end(progress, step);
    for (const auto& [key, state] : progress.work) {
      if (state != running) continue;
      for (const auto end : {done, failed, refused}) {
        const auto& stage = *pipeline_.find(key.first);
        if (end == refused && stage.kind != RunKind::scan) continue;
        auto after = progress;
        after.work[key] = end;
        if (stage.kind == RunKind::scan && end == done) after.pages = pages_;
        const auto next = next_step(pipeline_, after, options_);
        // Asked about the stage that ended, nothing is missing.
        const auto behind = next_step_after(pipeline_, key.first, after, options_);
        ASSERT_TRUE(behind);
        ASSERT_EQ(*behind, next);
        start(after, next);
      }
    }
  }

  static bool ended(const Progress& progress, const Stage& stage) {
    if (stage.each == Each::document) return progress.of(stage.name, 0) == done;
    return std::ranges::all_of(progress.pages, [&](int page) {
      const auto state = progress.of(stage.name, page);
      return state == done || state == failed || (state == waiting && given_up(progress, page));
    });
  }
  static bool given_up(const Progress& progress, int page) {
    return std::ranges::any_of(progress.work, [&](const auto& entry) {
      return entry.first.second == page && entry.second == failed;
    });
  }

  void check_start(const Progress& progress, const Stage& stage, int page) {
    for (const auto& name : stage.after) {
      ASSERT_TRUE(ended(progress, *pipeline_.find(name))) << stage.name << " before " << name;
    }
    if (page > 0) {
      ASSERT_FALSE(given_up(progress, page)) << stage.name << " for page " << page;
    }
    for (const auto& other : pipeline_.stages) {
      if (other.each == Each::document) {
        ASSERT_NE(progress.of(other.name, 0), failed) << stage.name << " after a failure";
      }
    }
  }

  // The states of the whole, said in another way than the code says them.
  void check_end(const Progress& progress, const NextStep& step) {
    bool any_running = false;
    bool refused_once = false;
    bool stage_failed = false;
    for (const auto& [key, state] : progress.work) {
      const auto& stage = *pipeline_.find(key.first);
      any_running = any_running || state == running;
      refused_once = refused_once || state == refused;
      const bool fatal =
          stage.each == Each::document || stage.on_page_failure == OnPageFailure::fail;
      stage_failed = stage_failed || (state == failed && fatal);
    }
    ASSERT_EQ(step.end.has_value(), !any_running)
        << "it must end when, and only when, nothing runs";
    if (!step.end) return;
    ends_.insert(*step.end);
    ASSERT_TRUE(step.starts.empty());
    std::size_t lost = 0;
    for (const auto page : progress.pages) lost += given_up(progress, page) ? 1 : 0;
    ASSERT_EQ(step.given_up.size(), lost);
    const bool all_lost = lost == progress.pages.size() && lost > 0;
    const auto expected = refused_once               ? DocumentEnd::rejected
                          : stage_failed || all_lost ? DocumentEnd::failed
                          : lost > 0                 ? DocumentEnd::partial
                                                     : DocumentEnd::completed;
    ASSERT_EQ(*step.end, expected);
    ASSERT_EQ(step.reason.empty(),
              expected == DocumentEnd::completed || expected == DocumentEnd::partial);
    if (!step.reason.empty()) return;
    for (const auto& stage : pipeline_.stages) ASSERT_TRUE(ended(progress, stage)) << stage.name;
  }

  const Pipeline& pipeline_;
  std::vector<int> pages_;
  PlanOptions options_;
  std::set<Work> seen_;
  std::set<DocumentEnd> ends_;
};

TEST(Plan, EveryCourseOfSmallDocumentsEndsAsItShould) {
  using enum DocumentEnd;
  for (const auto* pipeline : {&guardian(), &diamond(), &strict(), &open_end()}) {
    for (const auto& pages : {std::vector<int>{}, {1}, {1, 2}, {1, 2, 3}}) {
      for (const bool single : {false, true}) {
        EveryCourse courses(*pipeline, pages, {.one_at_a_time = single});
        const auto states = courses.walk();
        if (::testing::Test::HasFatalFailure()) return;
        EXPECT_GT(states, 2U);
        EXPECT_TRUE(courses.ends().contains(completed));
        EXPECT_TRUE(courses.ends().contains(rejected));
        EXPECT_EQ(courses.ends().contains(partial), pages.size() > 1) << pipeline->name;
      }
    }
  }
}

}  // namespace
}  // namespace millrace::pipeline
