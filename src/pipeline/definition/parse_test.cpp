// Every rule of a pipeline file, with the line it is told for (Q-24).
#include "pipeline/definition/parse.h"

#include "base/random.h"
#include "pipeline/definition/pipeline_set.h"
#include "pipeline/definition/stage_kind.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace millrace::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> problems_of(const std::string& text, const Known& known = {}) {
  const auto checked = parse_pipeline(text, known);
  EXPECT_EQ(checked.pipeline.has_value(), checked.problems.empty());
  std::vector<std::string> out;
  for (const auto& problem : checked.problems) out.push_back(problem.text("p.toml"));
  return out;
}

// Lines 1 and 2 are the head; a stage begins at line 3.
constexpr const char* kHead = "name = \"p\"\nversion = \"1.0.0\"\n";
// Lines 3 to 5, for tests of a second stage that begins at line 6.
constexpr const char* kScan = "[[stage]]\nname = \"scan\"\nrun = \"scan\"\n";

std::vector<std::string> problems_of_stage(const std::string& lines) {
  return problems_of(std::string(kHead) + "[[stage]]\nname = \"a\"\nrun = \"exec:a\"\n" + lines);
}
std::vector<std::string> problems_behind_scan(const std::string& lines) {
  return problems_of(std::string(kHead) + kScan + "[[stage]]\n" + lines);
}

Pipeline parse(const std::string& text) {
  auto checked = parse_pipeline(text);
  for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("p.toml");
  return checked.pipeline.value_or(Pipeline{});
}

TEST(PipelineFile, TheBuiltInGuardianIsValidAndHasTheNumbersOfTheDesign) {
  const auto guardian = parse(std::string(built_in_text("guardian.toml")));
  ASSERT_EQ(guardian.stages.size(), 6U);
  std::vector<std::string> names;
  std::vector<Each> each;
  for (const auto& stage : guardian.stages) {
    names.push_back(stage.name);
    each.push_back(stage.each);
    EXPECT_EQ(stage.max_attempts, 7) << stage.name;
    EXPECT_LE(stage.timeout,
              stage.queue == "fast_queue" ? std::chrono::minutes(2) : std::chrono::minutes(10));
  }
  EXPECT_THAT(names, ElementsAre("fast_queue_security", "fast_queue_ocr", "fast_queue_spatial",
                                 "ai_queue_pass1", "ai_queue_pass2", "ai_queue_pass3"));
  EXPECT_THAT(each, ElementsAre(Each::document, Each::page, Each::document, Each::page, Each::page,
                                Each::document));
  ASSERT_EQ(guardian.queues.size(), 2U);
  for (const auto& queue : guardian.queues) {
    EXPECT_EQ(queue.policy.at("max_attempts").as_int64(), 7);
    EXPECT_EQ(queue.policy.at("backoff_base").as_string(), "2s");
    EXPECT_EQ(queue.policy.at("backoff_cap").as_string(), "1m4s");
    EXPECT_EQ(queue.policy.at("jitter_high").as_double(), 1.1);
    EXPECT_EQ(queue.policy.at("lease").as_string(), "5m");
  }
}

TEST(PipelineFile, AStageThatSaysLittleHasTheDefaults) {
  const auto pipeline =
      parse(std::string(kHead) + kScan + "[[stage]]\nname = \"read\"\nrun = \"ocr\"\n");
  ASSERT_EQ(pipeline.stages.size(), 2U);
  const auto& scan = pipeline.stages[0];
  EXPECT_EQ(scan.title, "scan");
  EXPECT_EQ(scan.queue, "default");
  EXPECT_EQ(scan.provider, "none");
  EXPECT_EQ(scan.timeout, std::chrono::minutes(2));
  EXPECT_EQ(scan.max_attempts, std::nullopt);
  const auto& read = pipeline.stages[1];
  EXPECT_THAT(read.after, ElementsAre("scan"));  // The stage above it.
  EXPECT_EQ(read.each, Each::page);              // What the kind does.
  EXPECT_EQ(read.provider, "local");
  EXPECT_EQ(read.on_page_failure, OnPageFailure::go_on);
  EXPECT_THAT(read.required, ElementsAre("pages"));
  EXPECT_THAT(read.outputs, ElementsAre("words", "text"));
}

TEST(PipelineFile, BrokenTomlIsToldWithItsPlace) {
  const auto problems = problems_of("name = \"p\"\nversion = \n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], ::testing::StartsWith("p.toml:2:"));
}

TEST(PipelineFile, NamesAndVersionAreChecked) {
  EXPECT_THAT(problems_of("[[stage]]\nname = \"a\"\nrun = \"scan\"\n"),
              ElementsAre("p.toml:1:1: name is missing: name = \"...\"",
                          "p.toml:1:1: version is missing: version = \"1.0.0\""));
  EXPECT_THAT(problems_of(std::string("name = \"P p\"\nversion = \"1.0\"\n") + kScan),
              ElementsAre("p.toml:1:1: name must begin with a letter and have at most 63 of a-z "
                          "0-9 _ - (got \"P p\")",
                          "p.toml:2:1: version must be three numbers like \"1.4.0\" or "
                          "\"2.0.0-rc.1\" (got \"1.0\")"));
  EXPECT_THAT(problems_of(std::string("name = 7\nversion = 1.0\n") + kScan),
              ElementsAre("p.toml:1:1: name must be a text in quotes (got 7)",
                          "p.toml:2:1: version must be a text in quotes (got 1)"));
  EXPECT_THAT(problems_of(kHead),
              ElementsAre("p.toml:1:1: stage is missing: a pipeline has at least one [[stage]]"));
}

TEST(PipelineFile, UnknownKeysNameTheNearestKnownOne) {
  EXPECT_THAT(problems_of(std::string(kHead) + "descripton = \"x\"\n" + kScan),
              ElementsAre("p.toml:3:1: unknown key \"descripton\"; did you mean description?"));
  EXPECT_THAT(
      problems_of_stage("  timout = \"90s\"\n"),
      ElementsAre("p.toml:6:3: stage \"a\": unknown key \"timout\"; did you mean timeout?"));
  EXPECT_THAT(problems_of_stage("limits = { memry = \"1G\" }\n"),
              ElementsAre("p.toml:6:12: stage \"a\": unknown key \"limits.memry\"; did you mean "
                          "limits.memory?"));
  EXPECT_THAT(
      problems_behind_scan("name = \"o\"\nrun = \"ocr\"\n[stage.options]\nlanguage = \"eng\"\n"),
      ElementsAre("p.toml:10:1: stage \"o\": unknown key \"options.language\"; did you mean "
                  "options.languages?"));
  const auto far = problems_of_stage("zzzzzzzzzz = 1\n");
  ASSERT_EQ(far.size(), 1U);
  EXPECT_THAT(far[0], HasSubstr("known are after, call_timeout"));
}

TEST(PipelineFile, TypesAndRangesAreChecked) {
  EXPECT_THAT(
      problems_of_stage("timeout = 90\n"),
      ElementsAre("p.toml:6:1: stage \"a\": timeout must be a duration like \"90s\" (got 90)"));
  EXPECT_THAT(
      problems_of_stage("timeout = \"90\"\n"),
      ElementsAre("p.toml:6:1: stage \"a\": timeout must be a duration like \"90s\" (got \"90\")"));
  EXPECT_THAT(problems_of_stage("timeout = \"2d\"\n"),
              ElementsAre("p.toml:6:1: stage \"a\": timeout must be from 1s to 1d (got \"2d\")"));
  EXPECT_THAT(
      problems_of_stage("max_attempts = 0\n"),
      ElementsAre(
          "p.toml:6:1: stage \"a\": max_attempts must be a whole number from 1 to 1000 (got 0)"));
  EXPECT_THAT(problems_of_stage("max_attempts = 1.5\n"),
              ElementsAre("p.toml:6:1: stage \"a\": max_attempts must be a whole number from 1 to "
                          "1000 (got 1.5)"));
  EXPECT_THAT(
      problems_of_stage("each = \"pages\"\n"),
      ElementsAre(
          "p.toml:6:1: stage \"a\": each must be \"document\" or \"page\" (got \"pages\")"));
  EXPECT_THAT(problems_of_stage("after = \"b\"\n"),
              ElementsAre("p.toml:6:1: stage \"a\": after must be a list of texts like [\"a\", "
                          "\"b\"] (got \"b\")"));
  EXPECT_THAT(
      problems_of_stage("max_attempts = 1001\nrevision = 0\ntitle = \"a\\nb\"\n"),
      ElementsAre("p.toml:6:1: stage \"a\": max_attempts must be a whole number from 1 to 1000 "
                  "(got 1001)",
                  "p.toml:7:1: stage \"a\": revision must be a whole number from 1 to 1000000 "
                  "(got 0)",
                  "p.toml:8:1: stage \"a\": title must be one line of 1 to 100 bytes (got "
                  "\"a\\nb\")"));
  EXPECT_THAT(
      problems_of_stage("limits = 5\n"),
      ElementsAre("p.toml:6:1: stage \"a\": limits must be a table like { name = \"value\" } "
                  "(got 5)"));
  EXPECT_THAT(problems_of(std::string(kHead) + "stage = 3\n"),
              ElementsAre("p.toml:3:1: stage must be tables that begin with [[stage]]"));
}

TEST(PipelineFile, NamesOfStagesAndQueuesHaveTheFormOfTheDatabase) {
  EXPECT_THAT(problems_of(std::string(kHead) + "[[stage]]\nrun = \"scan\"\n"),
              ElementsAre("p.toml:3:1: stage 1: name is missing: every stage needs one"));
  EXPECT_THAT(problems_of(std::string(kHead) + "[[stage]]\nname = \"Scan it\"\nrun = \"scan\"\n"),
              ElementsAre(HasSubstr("p.toml:4:1: stage \"Scan it\": name must begin with")));
  EXPECT_THAT(problems_of_stage("queue = \"my queue\"\n"),
              ElementsAre(HasSubstr("p.toml:6:1: stage \"a\": queue must begin with")));
  EXPECT_THAT(problems_of_stage("queue = \"" + std::string(64, 'q') + "\"\n"),
              ElementsAre(HasSubstr("p.toml:6:1: stage \"a\": queue must begin with")));
  EXPECT_THAT(problems_of_stage("queue = \"" + std::string(63, 'q') + "\"\n"), IsEmpty());
}

TEST(PipelineFile, RunIsABuiltInKindAProgramOrAnAddress) {
  const auto run = [](const std::string& value) {
    return problems_of(std::string(kHead) + "[[stage]]\nname = \"a\"\nrun = '" + value + "'\n");
  };
  EXPECT_THAT(run("exec:./a.py --fast"), IsEmpty());
  EXPECT_THAT(run("https://host/a?b=c"), IsEmpty());
  EXPECT_THAT(run("scam"),
              ElementsAre("p.toml:5:1: stage \"a\": run is not a known kind of work; did "
                          "you mean \"scan\"? (got \"scam\")"));
  EXPECT_THAT(
      run("fax"),
      ElementsAre(
          "p.toml:5:1: stage \"a\": run must be \"scan\", \"ocr\", "
          "\"spatial\", \"detect\", \"extract\", \"narrate\", \"render\", \"parse\", \"validate\", "
          "\"chunk\", \"embed\" or \"publish\", or begin "
          "with exec:, http:// or https:// (got \"fax\")"));
  EXPECT_THAT(run("exec:"), ElementsAre(HasSubstr("run names no program")));
  EXPECT_THAT(run("exec:\"a"),
              ElementsAre(HasSubstr("run is no command: a quote \" is not closed")));
  EXPECT_THAT(run("https://"), ElementsAre(HasSubstr("must be an address like")));
  EXPECT_THAT(run("https://user:secret@host/"),
              ElementsAre("p.toml:5:1: stage \"a\": run must not hold a user or password"));
  EXPECT_THAT(problems_of(std::string(kHead) + "[[stage]]\nname = \"a\"\n"),
              ElementsAre(HasSubstr("p.toml:3:1: stage \"a\": run is missing")));
}

TEST(PipelineFile, StagesAreUniqueAndWaitForStages) {
  EXPECT_THAT(problems_behind_scan("name = \"scan\"\nrun = \"exec:a\"\n"),
              ElementsAre("p.toml:7:1: stage \"scan\": name is taken by the stage at line 4"));
  EXPECT_THAT(
      problems_behind_scan("name = \"b\"\nrun = \"exec:a\"\nafter = [\"scann\"]\n"),
      ElementsAre("p.toml:9:1: stage \"b\": after names \"scann\", which is no stage; did you "
                  "mean \"scan\"?"));
  EXPECT_THAT(
      problems_behind_scan("name = \"b\"\nrun = \"exec:a\"\nafter = [\"scan\", \"scan\"]\n"),
      ElementsAre("p.toml:9:1: stage \"b\": after names \"scan\" twice"));
  EXPECT_THAT(problems_behind_scan("name = \"b\"\nrun = \"exec:a\"\nafter = [\"scan\", \"b\"]\n"),
              ElementsAre("p.toml:9:1: stage \"b\": after names the stage itself"));
}

TEST(PipelineFile, CyclesAreNamedOnce) {
  const auto stage = [](const std::string& name, const std::string& after) {
    return fmt::format("[[stage]]\nname = \"{}\"\nrun = \"exec:a\"\nafter = [{}]\n", name, after);
  };
  EXPECT_THAT(
      problems_of(std::string(kHead) + kScan + stage("b", "\"scan\", \"d\"") + stage("c", "\"b\"") +
                  stage("d", "\"c\"")),
      ElementsAre("p.toml:9:1: stage \"b\": stages wait for each other: \"b\" after \"d\" after "
                  "\"c\" after \"b\""));
}

TEST(PipelineFile, TheFirstStageBeginsAndAllOthersFollowIt) {
  EXPECT_THAT(
      problems_of(std::string(kHead) + "[[stage]]\nname = \"a\"\nrun = \"exec:a\"\nafter = "
                                       "[\"b\"]\n[[stage]]\nname = \"b\"\nrun = \"exec:a\"\n"),
      ElementsAre("p.toml:6:1: stage \"a\": after must be left out: the first stage is where a "
                  "document begins",
                  "p.toml:6:1: stage \"a\": stages wait for each other: \"a\" after \"b\" after "
                  "\"a\""));
  EXPECT_THAT(
      problems_behind_scan("name = \"b\"\nrun = \"exec:a\"\nafter = []\n[[stage]]\nname = "
                           "\"c\"\nrun = \"exec:a\"\n"),
      ElementsAre("p.toml:9:1: stage \"b\": is never reached: nothing leads to it from the first "
                  "stage, \"scan\"",
                  "p.toml:10:1: stage \"c\": is never reached: nothing leads to it from the "
                  "first stage, \"scan\""));
}

TEST(PipelineFile, PagesAreCountedBeforeTheyAreWorkedOn) {
  EXPECT_THAT(
      problems_of_stage("each = \"page\"\n"),
      ElementsAre("p.toml:6:1: stage \"a\": each = \"page\" needs a stage with run = \"scan\" "
                  "before it, which counts the pages"));
  EXPECT_THAT(
      problems_of(std::string(kHead) + "[[stage]]\nname = \"o\"\nrun = \"ocr\"\n"),
      ElementsAre("p.toml:3:1: stage \"o\": each = \"page\" needs a stage with run = \"scan\" "
                  "before it, which counts the pages"));
}

TEST(PipelineFile, WordsOfFanInAreForStagesThatFanOut) {
  EXPECT_THAT(
      problems_of_stage("on_page_failure = \"fail\"\n"),
      ElementsAre("p.toml:6:1: stage \"a\": on_page_failure needs each = \"page\": this stage is "
                  "one job and has no pages"));
  EXPECT_THAT(problems_behind_scan("name = \"o\"\nrun = \"ocr\"\non_page_failure = \"fail\"\n"),
              IsEmpty());
}

TEST(PipelineFile, EachKindTakesWhatItIsMadeFor) {
  EXPECT_THAT(problems_behind_scan("name = \"o\"\nrun = \"ocr\"\neach = \"document\"\n"),
              ElementsAre("p.toml:9:1: stage \"o\": each must be \"page\" for run = \"ocr\""));
  EXPECT_THAT(problems_behind_scan("name = \"o\"\nrun = \"ocr\"\noutputs = [\"x\"]\n"),
              ElementsAre("p.toml:9:1: stage \"o\": outputs cannot be changed for run = \"ocr\""));
  EXPECT_THAT(
      problems_behind_scan("name = \"d\"\nrun = \"detect\"\n"),
      ElementsAre("p.toml:8:1: stage \"d\": requires \"map\", which no stage before it outputs; "
                  "run = \"spatial\" does"));
  EXPECT_THAT(problems_behind_scan("name = \"x\"\nrun = \"exec:x\"\nrequires = [\"labels\"]\n"),
              ElementsAre("p.toml:9:1: stage \"x\": requires \"labels\", which no stage before it "
                          "outputs"));
  EXPECT_THAT(problems_behind_scan("name = \"x\"\nrun = \"exec:x\"\noutputs = [\"pages\"]\n"),
              ElementsAre("p.toml:9:1: stage \"x\": outputs has \"pages\", which only run = "
                          "\"scan\" makes"));
  EXPECT_THAT(problems_behind_scan("name = \"x\"\nrun = \"exec:x\"\noutputs = [\"a\", \"b\"]\n"),
              ElementsAre("p.toml:9:1: stage \"x\": outputs must be one name: that of what the "
                          "stage answers"));
  EXPECT_THAT(
      problems_behind_scan("name = \"x\"\nrun = \"exec:x\"\noutputs = [\"a\"]\n"
                           "[[stage]]\nname = \"y\"\nrun = \"exec:x\"\noutputs = [\"a\"]\n"),
      ElementsAre("p.toml:13:1: stage \"y\": outputs \"a\", as stage \"x\" does"));
  EXPECT_THAT(problems_behind_scan("name = \"x\"\nrun = \"exec:x\"\noutputs = [\"A b\"]\n"),
              ElementsAre(HasSubstr("p.toml:9:1: stage \"x\": outputs has \"A b\"")));
  EXPECT_THAT(
      problems_behind_scan("name = \"o\"\nrun = \"ocr\"\n[[stage]]\nname = \"s\"\nrun = "
                           "\"spatial\"\nprovider = \"openai\"\n"),
      ElementsAre("p.toml:12:1: stage \"s\": provider must be \"none\" for run = \"spatial\" (got "
                  "\"openai\")"));
  EXPECT_THAT(
      problems_of(std::string(kHead) +
                  "[[stage]]\nname = \"h\"\nrun = \"http://h\"\nlimits = { memory = \"1G\" }\n"),
      ElementsAre("p.toml:6:1: stage \"h\": limits are of a process of its own, and run = "
                  "\"http://h\" has none"));
}

TEST(PipelineFile, WhatIsInsideEndsFirst) {
  EXPECT_THAT(
      problems_of_stage("timeout = \"60s\"\nlimits = { wall = \"60s\" }\n"),
      ElementsAre("p.toml:7:12: stage \"a\": limits.wall must be shorter than the stage's timeout "
                  "of 1m"));
  EXPECT_THAT(
      problems_behind_scan("name = \"o\"\nrun = \"ocr\"\ncall_timeout = \"3m\"\n"),
      ElementsAre("p.toml:9:1: stage \"o\": call_timeout must be shorter than the stage's timeout "
                  "of 2m"));
  EXPECT_THAT(
      problems_of_stage("call_timeout = \"1m\"\n"),
      ElementsAre(HasSubstr("p.toml:6:1: stage \"a\": call_timeout is of calls to a provider, and "
                            "run = \"")));
  EXPECT_THAT(
      problems_of(std::string(kHead) +
                  "[[queue]]\nname = \"q\"\nrun_timeout = \"1m\"\n[[stage]]\nname = \"a\"\nrun = "
                  "\"scan\"\nqueue = \"q\"\ntimeout = \"61s\"\n"),
      ElementsAre("p.toml:10:1: stage \"a\": timeout of 1m1s is longer than run_timeout of 1m of "
                  "its queue \"q\""));
}

TEST(PipelineFile, LimitsHaveBounds) {
  for (const char* good : {"memory = \"16M\"", "memory = 16777216", "cpu = \"1s\"", "wall = \"1s\"",
                           "output = \"1K\"", "file_size = \"1K\"", "files = 8", "processes = 1"}) {
    EXPECT_THAT(problems_of_stage(fmt::format("limits = {{ {} }}\n", good)), IsEmpty()) << good;
  }
  EXPECT_THAT(
      problems_of_stage("limits = { memory = \"1M\" }\n"),
      ElementsAre("p.toml:6:12: stage \"a\": limits.memory must be from 16M to 64G (got \"1M\")"));
  EXPECT_THAT(
      problems_of_stage("limits = { memory = \"lots\" }\n"),
      ElementsAre("p.toml:6:12: stage \"a\": limits.memory must be a size like \"512M\" (got "
                  "\"lots\")"));
  for (const char* bad : {"memory = \"65G\"", "memory = -1", "cpu = \"500ms\"", "wall = \"25h\"",
                          "output = \"1\"", "file_size = 2.5", "files = 7", "processes = 0"}) {
    EXPECT_EQ(problems_of_stage(fmt::format("limits = {{ {} }}\n", bad)).size(), 1U) << bad;
  }
}

TEST(PipelineFile, QueuePoliciesAreOrdered) {
  const auto queue = [](const std::string& lines) {
    return problems_of(std::string(kHead) +
                       "[[stage]]\nname = \"a\"\nrun = \"scan\"\nqueue = \"q\"\n[[queue]]\n" +
                       lines);
  };
  EXPECT_THAT(queue("name = \"q\"\nlease = \"30s\"\nbeat = \"30s\"\n"),
              ElementsAre("p.toml:9:1: queue \"q\": lease must be more than beat"));
  EXPECT_THAT(
      queue("name = \"q\"\nbackoff_base = \"2s\"\nbackoff_cap = \"1s\"\n"),
      ElementsAre("p.toml:10:1: queue \"q\": backoff_cap must be no less than backoff_base"));
  EXPECT_THAT(queue("name = \"q\"\nlease = \"2d\"\nmax_atempts = 3\n"),
              ElementsAre("p.toml:9:1: queue \"q\": lease must be from 1s to 1d (got \"2d\")",
                          "p.toml:10:1: queue \"q\": unknown key \"max_atempts\"; did you mean "
                          "max_attempts?"));
  EXPECT_THAT(queue("name = \"qq\"\n"),
              ElementsAre("p.toml:8:1: queue \"qq\": no stage is in it; did you mean \"q\"?"));
  EXPECT_THAT(queue("name = \"q\"\n[[queue]]\nname = \"q\"\n"),
              ElementsAre("p.toml:10:1: queue \"q\": name is that of another [[queue]]"));
  EXPECT_THAT(queue("lease = \"30s\"\n"),
              ElementsAre("p.toml:7:1: queue 1: name is missing: every queue needs one"));
}

TEST(PipelineFile, OptionsOfBuiltInKindsAreChecked) {
  const auto ocr = [](const std::string& options) {
    return problems_behind_scan("name = \"o\"\nrun = \"ocr\"\noptions = { " + options + " }\n");
  };
  EXPECT_THAT(ocr("mode = \"ocr\", languages = [\"eng\", \"chi_sim\"], confidence_min = 1"),
              IsEmpty());
  EXPECT_THAT(
      ocr("mode = \"fast\""),
      ElementsAre("p.toml:9:13: stage \"o\": options.mode must be \"auto\", \"text\" or \"ocr\" "
                  "(got \"fast\")"));
  EXPECT_THAT(
      ocr("languages = [\"english\"]"),
      ElementsAre("p.toml:9:13: stage \"o\": options.languages must be one to eight languages like "
                  "[\"eng\", \"deu\"] (got [\"english\"])"));
  EXPECT_THAT(ocr("languages = []"),
              ElementsAre(HasSubstr("options.languages must be one to eight")));
  EXPECT_THAT(ocr("dpi = 300"), ElementsAre(HasSubstr("unknown key \"options.dpi\"")));
  EXPECT_THAT(ocr("confidence_min = 1.5"),
              ElementsAre(HasSubstr("options.confidence_min must be a number from 0 to 1")));
  const std::string to_extract =
      "name = \"o\"\nrun = \"ocr\"\n[[stage]]\nname = \"s\"\nrun = \"spatial\"\n[[stage]]\nname = "
      "\"d\"\nrun = \"detect\"\n[[stage]]\nname = \"e\"\nrun = \"extract\"\n";
  EXPECT_THAT(problems_behind_scan(to_extract + "options = { model = \"m\" }\n"),
              ElementsAre(HasSubstr("options.model is of a provider, and local has none")));
  EXPECT_THAT(problems_behind_scan(to_extract + "provider = \"openai\"\noptions.model = \"m\"\n"),
              IsEmpty());
  EXPECT_THAT(
      problems_behind_scan(to_extract + "options = { review_min = 0.9, accept_min = 0.8 }\n"),
      ElementsAre("p.toml:18:13: stage \"e\": options.review_min must not be above accept_min"));
}

TEST(PipelineFile, OptionsOfAnAuthorsProgramAreFreeButBounded) {
  EXPECT_THAT(problems_of_stage(
                  "[stage.options]\nany = { deep = [1, 2.5, \"x\", true] }\nwhen = 2026-01-02\n"),
              IsEmpty());
  EXPECT_THAT(
      problems_of_stage("options = { x = inf }\n"),
      ElementsAre(HasSubstr("p.toml:6:1: stage \"a\": options has a number that is not finite")));
  EXPECT_THAT(problems_of_stage("options = { x = [[[[[[[[[1]]]]]]]]] }\n"),
              ElementsAre(HasSubstr("options is nested deeper than 8 levels")));
  EXPECT_THAT(problems_of_stage("options = { x = \"" + std::string(20'000, 'x') + "\" }\n"),
              ElementsAre(HasSubstr("options are larger than 16384 bytes")));
  EXPECT_THAT(problems_of_stage("options = { x = \"a\\u0000b\" }\n"),
              ElementsAre(HasSubstr("options has a text with a zero byte")));
}

TEST(PipelineFile, ProvidersAreThoseOfTheKind) {
  EXPECT_THAT(problems_of_stage("provider = \"opnai\"\n"),
              ElementsAre(HasSubstr("p.toml:6:1: stage \"a\": provider must be ")));
  EXPECT_THAT(
      problems_behind_scan("name = \"o\"\nrun = \"ocr\"\nprovider = \"openai\"\n"),
      ElementsAre("p.toml:9:1: stage \"o\": provider must be \"local\" or \"google\" for run = "
                  "\"ocr\" (got \"openai\")"));
  EXPECT_THAT(
      problems_of_stage("provider = \"Open AI\"\n"),
      ElementsAre(HasSubstr("p.toml:6:1: stage \"a\": provider must be \"none\", \"local\" or")));
}

// What is not here may be on the machine of a worker: it is told, and the file is taken.
TEST(PipelineFile, WhatIsMissingHereIsAWarning) {
  const auto text =
      std::string(kHead) +
      "[[stage]]\nname = \"a\"\nrun = \"exec:./a.py --fast\"\nprovider = \"openai\"\n";
  const auto warnings = [&text](const Known& known) {
    const auto checked = parse_pipeline(text, known);
    EXPECT_TRUE(checked.pipeline.has_value());
    std::vector<std::string> out;
    for (const auto& warning : checked.warnings) out.push_back(warning.text("p.toml"));
    return out;
  };
  EXPECT_THAT(warnings({}), IsEmpty());
  EXPECT_THAT(
      warnings({.providers = std::vector<std::string>{"openai"},
                .has_program = [](const std::string& program) { return program == "./a.py"; }}),
      IsEmpty());
  EXPECT_THAT(
      warnings({.providers = std::vector<std::string>{"google"},
                .has_program = [](const std::string&) { return false; }}),
      ElementsAre("p.toml:5:1: stage \"a\": ./a.py is not there, or is no program",
                  "p.toml:6:1: stage \"a\": provider \"openai\" is not configured here; jobs "
                  "of this stage wait for one"));
}

TEST(PipelineFile, NamesOfTheEngineAreTaken) {
  EXPECT_THAT(
      problems_behind_scan("name = \"document_outputs\"\nrun = \"exec:x\"\n"),
      ElementsAre("p.toml:7:1: stage \"document_outputs\": name is that of a job of the engine"));
}

// B-08: an option of the chunker that it could not keep is told by line, not by a failed document.
TEST(PipelineFile, ChunkOptionsFitEachOther) {
  const auto problems = [](const std::string& options) {
    return problems_of(
        "name = \"p\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"a\"\nrun = "
        "\"parse\"\n[[stage]]\nname = "
        "\"b\"\nrun = \"validate\"\n[[stage]]\nname = \"c\"\nrun = \"chunk\"\noptions = { " +
        options + " }\n");
  };
  EXPECT_THAT(problems("max_tokens = 512, target_tokens = 300, min_tokens = 100"), IsEmpty());
  EXPECT_THAT(problems("max_tokens = 512, target_tokens = 600"),
              ElementsAre(HasSubstr("options.target_tokens must not be above max_tokens")));
  EXPECT_THAT(problems("target_tokens = 100, min_tokens = 60"),
              ElementsAre(HasSubstr("options.min_tokens must be at most half of target_tokens")));
  EXPECT_THAT(problems("max_tokens = 100, overlap_tokens = 16"),
              ElementsAre(HasSubstr("options.overlap_tokens must be at most 15 % of max_tokens")));
  EXPECT_THAT(problems("max_tokens = 10"), ElementsAre(HasSubstr("options.max_tokens")));
}

TEST(PipelineFile, LimitsAreThoseOfWhatRuns) {
  EXPECT_THAT(problems_behind_scan("name = \"o\"\nrun = \"ocr\"\nlimits = { files = 9 }\n"),
              ElementsAre("p.toml:9:12: stage \"o\": limits.files is for programs of your own"));
  EXPECT_THAT(problems_behind_scan("name = \"o\"\nrun = \"ocr\"\n[[stage]]\nname = \"s\"\nrun = "
                                   "\"spatial\"\nlimits = { cpu = \"9s\" }\n"),
              ElementsAre("p.toml:12:1: stage \"s\": limits are of a process of its own, and run = "
                          "\"spatial\" has none"));
  EXPECT_THAT(
      problems_behind_scan("name = \"x\"\nrun = \"exec:x\"\nlimits = { output = \"1G\" }\n"),
      ElementsAre(HasSubstr("limits.output must be from 1K to 64M")));
}

TEST(PipelineFile, AllProblemsAreToldAtOnceInTheOrderOfLines) {
  const auto problems = problems_of(
      "name = \"p\"\nverson = \"1\"\n[[stage]]\nname = \"a\"\nrun = \"scan\"\ntimeout = "
      "5\n[[stage]]\nname = "
      "\"a\"\nrun = \"ocr\"\nafter = [\"zz\"]\nmax_attempts = -1\n");
  EXPECT_THAT(problems, ElementsAre(HasSubstr("p.toml:1:1: version is missing"),
                                    HasSubstr("p.toml:2:1: unknown key \"verson\""),
                                    HasSubstr("p.toml:6:1: stage \"a\": timeout"),
                                    HasSubstr("p.toml:8:1: stage \"a\": name is taken"),
                                    HasSubstr("p.toml:10:1: stage \"a\": after names \"zz\""),
                                    HasSubstr("p.toml:11:1: stage \"a\": max_attempts")));
}

TEST(PipelineFile, OneMistakeIsNotToldAsThree) {
  // The misspelt scan makes no pages, but that is not what is wrong with the others.
  EXPECT_THAT(problems_of(std::string(kHead) +
                          "[[stage]]\nname = \"s\"\nrun = \"scna\"\n[[stage]]\nname = "
                          "\"o\"\nrun = \"ocr\"\n[[stage]]\nname = \"m\"\nrun = \"spatial\"\n"),
              ElementsAre(HasSubstr("p.toml:5:1: stage \"s\": run is not a known kind")));
}

TEST(PipelineFile, NothingIsUnbounded) {
  std::string many(kHead);
  for (int i = 0; i < 65; ++i)
    many += fmt::format("[[stage]]\nname = \"s{}\"\nrun = \"exec:a\"\n", i);
  EXPECT_THAT(problems_of(many),
              ElementsAre("p.toml:3:3: stage has 65 tables; at most 64 are allowed"));
  std::string rubbish(kHead);
  for (int i = 0; i < 1000; ++i) rubbish += fmt::format("unknown{} = 1\n", i);
  const auto problems = problems_of(rubbish + kScan);
  EXPECT_EQ(problems.size(), kProblemsMax + 1);
  EXPECT_THAT(problems.back(), HasSubstr("and 800 more"));
  EXPECT_THAT(problems_of(std::string(300'000, '#')),
              ElementsAre("p.toml:1:1: the file has 300000 bytes; at most 262144 are allowed"));
  std::string deep(kHead);
  for (int i = 0; i < 2000; ++i) deep += "a.";
  EXPECT_THAT(problems_of(deep + "a = 1\n"),
              ElementsAre("p.toml:3:1: a key has more than 500 levels"));
}

// R-02, R-05, C-15, C-18, X-25: the numbers of the design.
TEST(PipelineFile, TheBuiltInExportTakesOrdersAndHasTheNumbersOfTheDesign) {
  const auto exports = parse(std::string(built_in_text("export.toml")));
  EXPECT_EQ(exports.takes, Takes::order);
  ASSERT_EQ(exports.stages.size(), 1U);
  const auto& stage = exports.stages[0];
  EXPECT_EQ(stage.name, "export_pdf");
  EXPECT_EQ(stage.kind, RunKind::render);
  EXPECT_EQ(stage.timeout, std::chrono::seconds(60));
  EXPECT_EQ(stage.limits.wall, std::chrono::seconds(8));
  EXPECT_FALSE(stage.max_attempts) << "the queue's, which an operator can change";
  ASSERT_EQ(exports.queues.size(), 1U);
  EXPECT_EQ(to_json(exports.queues[0].policy),
            R"({"max_attempts":5,"backoff_base":"1m","backoff_factor":2,"backoff_cap":"1h",)"
            R"("jitter_low":0.8,"jitter_high":1.2,"lease":"15m","beat":"30s","run_timeout":"1m",)"
            R"("concurrency_max":3,"key_concurrency_max":3})");
  const auto again = pipeline_from_json(pipeline_to_json(exports));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, exports);
  EXPECT_FALSE(
      pipeline_to_json(parse(std::string(built_in_text("guardian.toml")))).contains("takes"))
      << "hashes of before stay";
}

TEST(PipelineFile, OrdersHaveOnePipelineWithOneStage) {
  const auto orders = [](std::string name, std::string stages) {
    return problems_of("name = \"" + name + "\"\nversion = \"1.0.0\"\ntakes = \"order\"\n" +
                       std::move(stages));
  };
  constexpr const char* kPdf = "[[stage]]\nname = \"export_pdf\"\nrun = \"render\"\n";
  EXPECT_THAT(orders("export", kPdf), IsEmpty());
  EXPECT_THAT(orders("letters", kPdf),
              ElementsAre("p.toml:3:1: takes = \"order\" is for the pipeline \"export\""));
  EXPECT_THAT(orders("export", kScan),
              ElementsAre(HasSubstr("takes = \"order\" has one stage, with run = \"render\"")));
  EXPECT_THAT(orders("export", std::string(kPdf) + kScan), ElementsAre(HasSubstr("one stage")));
  EXPECT_THAT(orders("export", "[[stage]]\nname = \"pdf\"\nrun = \"render\"\n"),
              ElementsAre(HasSubstr("name must be \"export_pdf\"")));
  EXPECT_THAT(orders("export", std::string(kPdf) + "limits = { cpu = \"2s\" }\n"),
              ElementsAre(HasSubstr("cpu is not counted")));
  EXPECT_THAT(orders("export", std::string(kPdf) + "options = { preview_width = 5000 }\n"),
              ElementsAre(HasSubstr("preview_width")));
  EXPECT_THAT(problems_of(std::string(kHead) + kPdf),
              ElementsAre(HasSubstr("run = \"render\" needs takes = \"order\"")));
  EXPECT_THAT(problems_of("name = \"export\"\nversion = \"1.0.0\"\n" + std::string(kScan)),
              ElementsAre(HasSubstr("name \"export\" is that of the pipeline with")));
  EXPECT_THAT(problems_of(std::string(kHead) + "takes = \"mail\"\n" + kScan),
              ElementsAre(HasSubstr("takes")));
}

// Whatever a file holds: an answer, and each problem has a line of the file.
TEST(PipelineFile, MutatedFilesAreAnsweredNotCrashed) {
  const std::string original(built_in_text("guardian.toml"));
  SeededRandom random(7);
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    auto text = original;
    const auto edits = 1 + random.below(6);
    for (std::uint64_t i = 0; i < edits; ++i) {
      const auto at = static_cast<std::size_t>(random.below(text.size()));
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, random.below(40));
          break;
        case 2:
          text.insert(at, text.substr(random.below(text.size()), random.below(60)));
          break;
        default:
          text.insert(at, 1, "[]{}\"'=.\n,#0"[random.below(12)]);
      }
    }
    const auto checked = parse_pipeline(text);
    ASSERT_EQ(checked.pipeline.has_value(), checked.problems.empty());
    accepted += checked.pipeline ? 1 : 0;
    const auto lines = std::ranges::count(text, '\n') + 2;
    for (const auto& problem : checked.problems) {
      ASSERT_GE(problem.place.line, 1) << problem.message;
      ASSERT_LE(problem.place.line, lines) << problem.message;
      ASSERT_EQ(problem.message.find('\n'), std::string::npos) << problem.message;
    }
    if (checked.pipeline) {
      const auto again = pipeline_from_json(pipeline_to_json(*checked.pipeline));
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_EQ(*again, *checked.pipeline);
    }
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace millrace::pipeline
