// Values of a definition: its JSON form, its hash, versions, order, and the set of an installation.
#include "pipeline/definition/definition.h"

#include "base/file.h"
#include "pipeline/definition/parse.h"
#include "pipeline/definition/pipeline_set.h"
#include "pipeline/definition/stage_kind.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace millrace::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Pipeline parse(const std::string& text) {
  auto checked = parse_pipeline(text);
  for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("p.toml");
  return checked.pipeline.value_or(Pipeline{});
}

Pipeline guardian() { return parse(std::string(built_in_text("guardian.toml"))); }

constexpr const char* kEverything = R"(
name = "everything"
version = "2.1.0-rc.1"
description = "Every key there is"

[[queue]]
name = "labels"
max_attempts = 3
backoff_base = "500ms"
backoff_factor = 1.5
backoff_cap = "1h"
jitter_low = 0.8
jitter_high = 1.2
lease = "90s"
beat = "30s"
run_timeout = "1h"
reclaim_jitter = "500ms"
max_age = "7d"
max_snoozes = 10
concurrency_max = 4
key_concurrency_max = 2
depth_max = 100000
priority_default = 5
age_step = "30s"

[[stage]]
name = "scan"
run = "scan"

[[stage]]
name = "label"
title = "Labels für Seiten"
run = "exec:./label.py 'two words'"
queue = "labels"
each = "page"
after = ["scan"]
provider = "openai"
timeout = "10m"
max_attempts = 4
on_page_failure = "fail"
requires = ["pages"]
outputs = ["labels"]
revision = 3
limits = { memory = "512M", cpu = "10s", wall = "1m", output = "1M", file_size = "32M", files = 64, processes = 16 }
[stage.options]
ratio = 0.1
whole = 2.0
big = 123456789012345
deep = { list = [1, 2.5, "x", true, { a = "ü" }] }
when = 2026-01-02T03:04:05Z

[[stage]]
name = "read"
run = "ocr"
provider = "google"
call_timeout = "1500ms"
limits = { memory = "512M", cpu = "10s", wall = "1m", output = "1G" }
options = { mode = "ocr", languages = ["eng"], confidence_min = 0.5 }

[[stage]]
name = "send"
run = "https://host.example/send"
requires = ["labels", "text"]
)";

TEST(PipelineJson, EveryKeyComesBackExactly) {
  for (const auto& pipeline : {parse(kEverything), guardian()}) {
    const auto form = pipeline_to_json(pipeline);
    const auto back = pipeline_from_json(form);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, pipeline);
    // And through text, in any order of keys, as jsonb gives it.
    const auto text = canonical_json(form);
    const auto parsed = parse_json_object(text);
    ASSERT_TRUE(parsed);
    const auto again = pipeline_from_json(*parsed);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, pipeline);
    EXPECT_EQ(canonical_json(pipeline_to_json(*again)), text);
  }
}

TEST(PipelineJson, NumbersMayComeBackAsAnotherType) {
  auto form = pipeline_to_json(parse(kEverything));
  form.at("stage").at(1).at("options").as_object()["whole"] = 2.0;
  form.at("stage").at(1).as_object()["max_attempts"] = std::uint64_t{4};
  const auto back = pipeline_from_json(form);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, parse(kEverything));
}

TEST(PipelineJson, RefusesWhatItDoesNotUnderstand) {
  const auto error_with = [](auto change) {
    auto form = pipeline_to_json(guardian());
    change(form);
    const auto back = pipeline_from_json(form);
    return back ? std::string("accepted") : back.error().message;
  };
  EXPECT_THAT(error_with([](json::Object& form) { form["schema"] = "pipeline/2"; }),
              HasSubstr("schema \"pipeline/1\""));
  EXPECT_THAT(error_with([](json::Object& form) { form.erase("schema"); }),
              HasSubstr("schema \"pipeline/1\""));
  // A newer program may have written it: doing it without that key would be something else.
  EXPECT_THAT(
      error_with([](json::Object& form) { form.at("stage").at(0).as_object()["mirror"] = true; }),
      HasSubstr("stage \"fast_queue_security\": unknown key \"mirror\""));
  EXPECT_THAT(error_with([](json::Object& form) {
                form.at("stage").at(1).as_object()["after"] = json::Array{"gone"};
              }),
              HasSubstr("after names \"gone\", which is no stage"));
  EXPECT_THAT(error_with([](json::Object& form) { form["stage"] = json::Array{}; }),
              HasSubstr("stage is missing"));
  EXPECT_THAT(error_with([](json::Object& form) { form["stage"] = json::Array{7}; }),
              HasSubstr("stage must be tables"));
}

// A rule of sense that is made later must not stop documents on their way.
TEST(PipelineJson, OnlyFilesMustMakeSense) {
  auto form = pipeline_to_json(guardian());
  form.at("stage").at(0).as_object()["timeout"] = "20m";  // Longer than run_timeout of its queue.
  EXPECT_TRUE(pipeline_from_json(form));
}

TEST(PipelineHash, CommentsOrderAndSpellingDoNotChangeIt) {
  const auto a = parse(
      "name = \"p\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"a\"\nrun = \"exec:a\"\ntimeout = "
      "\"120s\"\n"
      "limits = { memory = \"1G\" }\noptions = { ratio = 2.0 }\n");
  const auto b = parse(
      "# About\nversion='1.0.0' # new\n\nname    = 'p'\n[[stage]]\nlimits.memory = 1073741824\n"
      "options.ratio = 2\ntimeout = '2m'\nrun = 'exec:a'\ntitle = 'a'\nname = 'a'\nafter = []\n");
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash.size(), 64U);
}

TEST(PipelineHash, AnythingThatCountsChangesIt) {
  const std::string head = "name = \"p\"\nversion = \"1.0.0\"\n";
  const std::string stage = "[[stage]]\nname = \"a\"\nrun = \"exec:a\"\n";
  std::set<std::string> hashes{parse(head + stage).hash};
  for (const char* more :
       {"timeout = \"3m\"\n", "title = \"A\"\n", "queue = \"q\"\n", "max_attempts = 2\n",
        "revision = 2\n", "provider = \"openai\"\n", "options = { x = 1 }\n",
        "limits = { files = 9 }\n", "outputs = [\"o\"]\n"}) {
    EXPECT_TRUE(hashes.insert(parse(head + stage + more).hash).second) << more;
  }
  EXPECT_TRUE(hashes.insert(parse("name = \"p\"\nversion = \"1.0.1\"\n" + stage).hash).second);
}

// Documents in the database refer to it; a change of the form is a migration.
TEST(PipelineHash, IsTheSameInEveryBuild) {
  const auto pipeline =
      parse("name = \"p\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"a\"\nrun = \"exec:a\"\n");
  EXPECT_EQ(
      canonical_json(pipeline_to_json(pipeline)),
      R"({"name":"p","schema":"pipeline/1","stage":[{"after":[],"each":"document","name":"a",)"
      R"("outputs":[],"provider":"none","queue":"default","requires":[],"revision":1,)"
      R"("run":"exec:a","timeout":"2m","title":"a"}],"version":"1.0.0"})");
  EXPECT_EQ(pipeline.hash, "c2e44517d41d02f6afe26fa8d7eaf9bdaa5eb9c5361ec6cdc743e87b5d16fc91");
}

TEST(Fingerprint, ChangesWithWhatMakesTheResultOnly) {
  const auto stage = guardian().stages[1];
  const auto original = result_fingerprint(stage);
  auto other = stage;
  other.timeout *= 2;
  other.title = "Another";
  other.max_attempts = 1;
  other.limits.memory_bytes = 1;
  EXPECT_EQ(result_fingerprint(other), original);
  other = stage;
  other.options["mode"] = "text";
  EXPECT_NE(result_fingerprint(other), original);
  other = stage;
  other.revision = 2;
  EXPECT_NE(result_fingerprint(other), original);
  other = stage;
  other.provider = "google";
  EXPECT_NE(result_fingerprint(other), original);
  EXPECT_NE(result_fingerprint(guardian().stages[0]), original);
}

TEST(Version, IsThreeNumbersAndPerhapsAName) {
  for (const char* good : {"0.0.0", "1.2.3", "10.20.30", "1.0.0-rc.1", "1.0.0-alpha-2"}) {
    EXPECT_TRUE(is_version(good)) << good;
  }
  for (const char* bad : {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-rc..1",
                          "v1.2.3", "1.2.3 ", "1.2.3+build", "1234567890.0.0"}) {
    EXPECT_FALSE(is_version(bad)) << bad;
  }
}

TEST(Version, OrdersByNumbersAndPutsCandidatesFirst) {
  const std::vector<std::string> ordered{"0.9.9",       "1.0.0-alpha", "1.0.0-rc.1", "1.0.0-rc.2",
                                         "1.0.0-rc.10", "1.0.0",       "1.0.1",      "1.2.0",
                                         "1.10.0",      "2.0.0"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      const int expected = i < j ? -1 : i > j ? 1 : 0;
      EXPECT_EQ(compare_versions(ordered[i], ordered[j]), expected)
          << ordered[i] << " " << ordered[j];
    }
  }
}

std::string branches(const std::string& stages) {
  return "name = \"p\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"a\"\nrun = \"exec:a\"\n" + stages;
}

TEST(StageOrder, EachStandsBehindAllItWaitsFor) {
  const auto pipeline = parse(branches(
      "[[stage]]\nname = \"d\"\nrun = \"exec:a\"\nafter = [\"c\", \"b\"]\n[[stage]]\nname = "
      "\"c\"\nrun = "
      "\"exec:a\"\nafter = [\"a\"]\n[[stage]]\nname = \"b\"\nrun = \"exec:a\"\nafter = [\"a\"]\n"));
  std::vector<std::string> names;
  for (const auto& stage : pipeline.stages) names.push_back(stage.name);
  EXPECT_THAT(names, ElementsAre("a", "c", "b", "d"));
  EXPECT_THAT(pipeline.stages[3].after, ElementsAre("c", "b"));
  const auto names_of = [](const std::vector<const Stage*>& stages) {
    std::vector<std::string> out;
    for (const auto* stage : stages) out.push_back(stage->name);
    return out;
  };
  EXPECT_THAT(names_of(pipeline.followers("a")), ElementsAre("c", "b"));
  EXPECT_THAT(names_of(pipeline.ancestors("d")), ElementsAre("a", "c", "b"));
  EXPECT_THAT(names_of(pipeline.ancestors("c")), ElementsAre("a"));
  EXPECT_THAT(pipeline.ancestors("a"), IsEmpty());
  EXPECT_THAT(pipeline.ancestors("gone"), IsEmpty());
  EXPECT_EQ(pipeline.find("gone"), nullptr);
}

class SetTest : public ::testing::Test {
 protected:
  SetTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pipelines-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SetTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& file, const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(folder_ / file, text));
  }
  void write_version(const std::string& file, const std::string& name, const std::string& version,
                     const std::string& more = "") const {
    write(file,
          fmt::format(
              "name = \"{}\"\nversion = \"{}\"\n[[stage]]\nname = \"a\"\nrun = \"exec:a\"\n{}",
              name, version, more));
  }
  PipelineSet::Loaded load() const {
    auto loaded = PipelineSet::load(folder_);
    EXPECT_TRUE(loaded) << loaded.error().message;
    auto out = std::move(*loaded);
    for (auto& problem : out.problems) {
      for (auto at = problem.find(folder_.string()); at != problem.npos;
           at = problem.find(folder_.string())) {
        problem.erase(at, folder_.string().size() + 1);
      }
    }
    return out;
  }

  std::filesystem::path folder_;
};

TEST_F(SetTest, HasTheBuiltInPipelinesWithoutAFolder) {
  const auto loaded = PipelineSet::load(std::nullopt);
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->set.names(), ElementsAre("export", "guardian", "ingest"));
  ASSERT_NE(loaded->set.find("guardian"), nullptr);
  EXPECT_EQ(*loaded->set.find("guardian"), guardian());
  EXPECT_EQ(loaded->set.find("nobody"), nullptr);
}

// By itself a queue gives a job up after a day: before there is money again.
TEST_F(SetTest, JobsOfBuiltInPipelinesWaitForMoneyForAMonth) {
  for (const auto* file : {"guardian.toml", "ingest.toml"}) {
    for (const auto& queue : parse(std::string(built_in_text(file))).queues) {
      EXPECT_EQ(queue.policy.at("max_age"), "30d") << queue.name;
    }
  }
}

TEST_F(SetTest, TakesTheHighestVersionOfTheFolderBeforeTheBuiltIn) {
  write_version("a.toml", "labels", "1.9.0");
  write_version("b.toml", "labels", "1.10.0");
  write_version("guardian.toml", "guardian", "0.1.0");
  write("notes.txt", "not a pipeline");
  const auto loaded = load();
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.files, 3U);
  EXPECT_THAT(loaded.set.names(), ElementsAre("export", "guardian", "ingest", "labels"));
  EXPECT_EQ(loaded.set.find("labels")->version, "1.10.0");
  EXPECT_EQ(loaded.set.find("labels", "1.9.0")->version, "1.9.0");
  EXPECT_EQ(loaded.set.find("labels", "2.0.0"), nullptr);
  EXPECT_EQ(loaded.set.find("guardian")->version, "0.1.0");
  EXPECT_EQ(loaded.set.find("guardian", "1.0.0")->hash, guardian().hash);
  ASSERT_EQ(loaded.set.versions("guardian").size(), 2U);
  EXPECT_TRUE(loaded.set.versions("guardian")[1]->built_in);
}

TEST_F(SetTest, OneVersionHasOneContent) {
  write_version("a.toml", "labels", "1.0.0");
  write_version("b.toml", "labels", "1.0.0", "timeout = \"3m\"\n");
  write_version("c.toml", "guardian", "1.0.0");
  EXPECT_THAT(
      load().problems,
      ElementsAre(
          "b.toml: labels 1.0.0 is another than that of a.toml; a change needs a new version",
          "c.toml: guardian 1.0.0 is another than that of built-in guardian.toml; a change "
          "needs a new version"));
  write_version("b.toml", "labels", "1.0.0");
  write("c.toml", std::string(built_in_text("guardian.toml")) + "# a copy\n");
  const auto loaded = load();
  EXPECT_THAT(loaded.problems, ElementsAre("b.toml: labels 1.0.0 is defined by a.toml too"));
  EXPECT_FALSE(loaded.set.versions("guardian")[0]->built_in);
}

TEST_F(SetTest, OneBrokenFileDoesNotHideTheOthers) {
  write("bad.toml", "name = \"bad\"\n");
  write_version("good.toml", "good", "1.0.0");
  const auto loaded = load();
  EXPECT_THAT(loaded.problems, ElementsAre(HasSubstr("bad.toml:1:1: stage is missing"),
                                           HasSubstr("bad.toml:1:1: version is missing")));
  EXPECT_NE(loaded.set.find("good"), nullptr);
  EXPECT_NE(loaded.set.find("guardian"), nullptr);
}

// What one model has answered is not taken for the answer of another.
TEST_F(SetTest, AStageThatNamesNoModelMeansThatOfTheSettings) {
  write("paid.toml",
        "name = \"paid\"\nversion = \"1.0.0\"\n"
        "[[stage]]\nname = \"a\"\nrun = \"scan\"\nqueue = \"q\"\n"
        "[[stage]]\nname = \"b\"\nrun = \"ocr\"\nqueue = \"q\"\n"
        "[[stage]]\nname = \"c\"\nrun = \"spatial\"\nqueue = \"q\"\n"
        "[[stage]]\nname = \"d\"\nrun = \"detect\"\nqueue = \"q\"\nprovider = \"openai\"\n"
        "[[stage]]\nname = \"e\"\nrun = \"extract\"\nqueue = \"q\"\nprovider = \"openai\"\n"
        "options = { model = \"chosen\" }\n");
  const auto pinned = [&](const std::string& model) {
    auto loaded = load();
    EXPECT_THAT(loaded.problems, IsEmpty());
    loaded.set.pin_models([&](const Stage&) { return model; });
    return *loaded.set.find("paid");
  };
  const auto one = pinned("one");
  const auto two = pinned("two");
  EXPECT_EQ(one.find("d")->options.at("model").as_string(), "one");
  EXPECT_EQ(one.find("e")->options.at("model").as_string(), "chosen");
  EXPECT_NE(result_fingerprint(*one.find("d")), result_fingerprint(*two.find("d")));
  EXPECT_EQ(result_fingerprint(*one.find("e")), result_fingerprint(*two.find("e")));
  EXPECT_NE(one.hash, two.hash);
  const auto read = pipeline_from_json(pipeline_to_json(one));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->hash, one.hash);
}

TEST_F(SetTest, AMissingFolderIsAnError) {
  const auto loaded = PipelineSet::load(folder_ / "gone");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::not_found);
}

// docs/pipelines.md names every key, kind and option, and its example files are valid.
TEST(PipelineDocs, AreCompleteAndTheirExamplesValid) {
  const auto docs = read_file(std::filesystem::path(MILLRACE_SOURCE_DIR) / "docs/pipelines.md");
  ASSERT_TRUE(docs);
  // The readers tell the keys they know.
  const auto known = parse_pipeline(
      "zzzzzzzzzzzz = 1\n[[queue]]\nzzzzzzzzzzzz = 1\n[[stage]]\nzzzzzzzzzzzz = 1\nlimits = { "
      "zzzzzzzzzzzz = 1 "
      "}\n");
  std::size_t keys = 0;
  for (const auto& problem : known.problems) {
    const auto at = problem.message.find("known are ");
    if (at == std::string::npos) continue;
    std::istringstream words(problem.message.substr(at + 10));
    for (std::string word; std::getline(words, word, ',');) {
      word.erase(0, word.find_first_not_of(' '));
      const bool named = docs->contains("`" + word + "`") || docs->contains("`[[" + word + "]]`");
      EXPECT_TRUE(named) << word;
      ++keys;
    }
  }
  EXPECT_GT(keys, 40U);
  for (const auto& kind : stage_kinds()) {
    EXPECT_TRUE(docs->contains(fmt::format("| `{}", to_string(kind.kind))) || !kind.built_in());
    for (const auto& option : kind.options) {
      EXPECT_TRUE(docs->contains(fmt::format("`{}`", option.name))) << option.name;
    }
  }
  std::size_t examples = 0;
  constexpr std::string_view kFence = "```toml\n";
  for (auto at = docs->find(kFence); at != docs->npos; at = docs->find(kFence, at)) {
    at += kFence.size();
    const auto pipeline = parse(docs->substr(at, docs->find("```", at) - at));
    EXPECT_FALSE(pipeline.stages.empty());
    ++examples;
  }
  EXPECT_EQ(examples, 2U);
}

}  // namespace
}  // namespace millrace::pipeline
