#include "pipeline/stage_plan.h"

#include "extract/extract.h"
#include "pipeline/definition/parse.h"
#include "pipeline/definition/pipeline_set.h"
#include "pipeline/stage_job.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <set>

namespace millrace::pipeline {
namespace {

Pipeline guardian() {
  auto checked = parse_pipeline(built_in_text("guardian.toml"));
  for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("guardian.toml");
  return checked.pipeline.value_or(Pipeline{});
}

std::string text(const json::Value& value, std::string_view pointer) {
  boost::system::error_code ignored;
  const auto* found = value.find_pointer(pointer, ignored);
  return found == nullptr ? "(none)" : to_json(*found);
}

// From the first stage on, each plan names the stage behind, down to the outputs and the end.
TEST(StagePlan, EveryStageIsFollowedByTheNextAndTheLastByTheOutputs) {
  const auto pipeline = guardian();
  std::string chain;
  for (const auto& stage : pipeline.stages)
    chain += text(plan_after(pipeline, stage.name), "/stage") + " ";
  EXPECT_EQ(chain,
            "\"fast_queue_ocr\" \"fast_queue_spatial\" \"ai_queue_pass1\" \"ai_queue_pass2\" "
            "\"ai_queue_pass3\" \"document_outputs\" ");
  EXPECT_TRUE(plan_after(pipeline, kOutputsType).is_null());
}

TEST(StagePlan, AStagePerPageNamesTheJobThatComesWhenAllHaveEnded) {
  const auto pipeline = guardian();
  const auto ocr = plan_after(pipeline, "fast_queue_security");
  EXPECT_EQ(text(ocr, "/each"), "\"page\"");
  EXPECT_EQ(text(ocr, "/next/job_type"), "\"fast_queue_spatial\"");
  EXPECT_EQ(text(ocr, "/job/max_attempts"), "7");
  EXPECT_EQ(text(ocr, "/job/run_timeout_seconds"), "120");
  const auto spatial = plan_after(pipeline, "fast_queue_ocr");
  EXPECT_EQ(text(spatial, "/each"), "\"document\"");
  EXPECT_EQ(text(spatial, "/next"), "(none)");
  EXPECT_EQ(text(job_after(pipeline, "ai_queue_pass3"), "/job_type"), "\"document_outputs\"");
}

TEST(StagePlan, AStageBehindAStagePerPageClosesIt) {
  const auto pipeline = guardian();
  EXPECT_EQ(pages_before(pipeline, "fast_queue_security"), nullptr);
  EXPECT_EQ(pages_before(pipeline, "fast_queue_ocr"), nullptr);
  EXPECT_EQ(pages_before(pipeline, "fast_queue_spatial")->name, "fast_queue_ocr");
  EXPECT_EQ(pages_before(pipeline, "ai_queue_pass1"), nullptr);
  EXPECT_EQ(pages_before(pipeline, "ai_queue_pass2")->name, "ai_queue_pass1");
  EXPECT_EQ(pages_before(pipeline, "ai_queue_pass3")->name, "ai_queue_pass2");
  EXPECT_EQ(pages_before(pipeline, kOutputsType), nullptr);
  EXPECT_EQ(pages_before(pipeline, "no_such_stage"), nullptr);
}

TEST(StagePlan, TheOutputsCloseAStagePerPageThatIsTheLast) {
  auto pipeline = guardian();
  pipeline.stages.pop_back();
  EXPECT_EQ(pages_before(pipeline, kOutputsType)->name, "ai_queue_pass2");
}

// What a result depends on: OCR on what the page shows, pass 1 also on the page before.
TEST(StagePlan, InputsAreWhatTheStageReads) {
  const auto pipeline = guardian();
  const auto inputs = [&](std::string_view stage) {
    return text(plan_of(pipeline, *pipeline.find(stage)), "/inputs");
  };
  EXPECT_EQ(inputs("fast_queue_ocr"), R"(["content"])");
  EXPECT_EQ(inputs("ai_queue_pass1"), R"(["fast_queue_spatial","previous:fast_queue_spatial"])");
  EXPECT_EQ(inputs("ai_queue_pass2"), R"(["fast_queue_spatial","ai_queue_pass1"])");
}

// F07, F08: another way to make it is another version; who pays and waits how long is not.
TEST(StagePlan, AVersionChangesWithWhatWouldComeOutAndWithNothingElse) {
  const auto version = [](const Pipeline& pipeline, std::string_view stage) {
    return stage_version(*pipeline.find(stage));
  };
  const auto before = guardian();
  const auto changed = [&](std::string_view stage, const auto& change) {
    auto pipeline = before;
    change(*std::ranges::find(pipeline.stages, stage, &Stage::name));
    return pipeline;
  };
  const auto other = changed("fast_queue_ocr",
                             [](Stage& stage) { stage.options["languages"] = json::Array{"tlh"}; });
  EXPECT_NE(version(before, "fast_queue_ocr"), version(other, "fast_queue_ocr"));
  EXPECT_EQ(version(before, "ai_queue_pass1"), version(other, "ai_queue_pass1"));
  const auto patient = changed("ai_queue_pass1", [](Stage& stage) {
    stage.timeout += std::chrono::seconds(1);
    stage.max_attempts = 3;
    stage.queue = "slow";
  });
  EXPECT_EQ(version(before, "ai_queue_pass1"), version(patient, "ai_queue_pass1"));
  const auto paid = changed("ai_queue_pass1", [](Stage& stage) { stage.provider = "openai"; });
  EXPECT_NE(version(before, "ai_queue_pass1"), version(paid, "ai_queue_pass1"));
  // The rules of the extractor are part of what `local` makes.
  EXPECT_NE(version(before, "ai_queue_pass1").find(extract::version()), std::string::npos);
}

TEST(StagePlan, OnlyAStageThatAsksAModelSaysWhatAQuestionMayTake) {
  const auto local = guardian();
  for (const auto& stage : local.stages)
    EXPECT_EQ(text(plan_of(local, stage), "/tokens"), "(none)");
  auto paid = local;
  for (auto& stage : paid.stages) {
    if (stage.queue == "ai_queue") stage.provider = "openai";
  }
  for (const auto* name : {"ai_queue_pass1", "ai_queue_pass2", "ai_queue_pass3"}) {
    EXPECT_NE(text(plan_of(paid, *paid.find(name)), "/tokens"), "(none)") << name;
  }
}

// --- The key of a result ---

store::DocumentWork work_of(char page, std::string_view map = "1", std::string_view before = "") {
  store::DocumentWork work;
  work.page = {.page = 2, .content_sha256 = std::string(64, page)};
  const auto result = [](std::string_view digit) {
    return store::StageResult{.content = {.sha256 = std::string(64, digit.front())}};
  };
  work.results["fast_queue_spatial"] = result(map);
  if (!before.empty()) work.previous["fast_queue_spatial"] = result(before);
  return work;
}

TEST(ReuseKey, DependsOnWhatTheStageReadsAndOnNothingElse) {
  const auto pipeline = guardian();
  const auto key = [&](std::string_view stage, const store::DocumentWork& work) {
    return reuse_key(pipeline, *pipeline.find(stage), work);
  };
  EXPECT_EQ(key("fast_queue_ocr", work_of('a')), key("fast_queue_ocr", work_of('a', "2", "3")));
  EXPECT_NE(key("fast_queue_ocr", work_of('a')), key("fast_queue_ocr", work_of('b')));
  EXPECT_EQ(key("ai_queue_pass1", work_of('a')), key("ai_queue_pass1", work_of('b')));
  std::set<std::string> different = {
      key("ai_queue_pass1", work_of('a', "1")), key("ai_queue_pass1", work_of('a', "2")),
      key("ai_queue_pass1", work_of('a', "1", "2")), key("ai_queue_pass1", work_of('a', "2", "1")),
      key("ai_queue_pass2", work_of('a', "1"))};
  EXPECT_EQ(different.size(), 5U);
  // Where a page stands in its document does not count.
  auto elsewhere = work_of('a');
  elsewhere.page->page = 7;
  EXPECT_EQ(key("fast_queue_ocr", elsewhere), key("fast_queue_ocr", work_of('a')));
}

TEST(ReuseKey, WhatWasMadeOfTheSameIsNotMadeAgainUnlessThePageWasGivenUp) {
  const auto pipeline = guardian();
  const auto& stage = *pipeline.find("ai_queue_pass1");
  auto work = work_of('a');
  work.page->state = "pending";
  EXPECT_EQ(made_already(pipeline, stage, work), nullptr);
  work.results[stage.name] = {.reuse_key = reuse_key(pipeline, stage, work)};
  EXPECT_EQ(made_already(pipeline, stage, work), &work.results[stage.name]);
  auto other = work;
  other.results["fast_queue_spatial"].content.sha256 = std::string(64, '9');
  EXPECT_EQ(made_already(pipeline, stage, other), nullptr) << "it would read other words now";
  work.page->state = "failed";
  EXPECT_EQ(made_already(pipeline, stage, work), nullptr);
  work.page.reset();
  EXPECT_EQ(made_already(pipeline, stage, work), nullptr) << "a job that begins the stage";
}

}  // namespace
}  // namespace millrace::pipeline
