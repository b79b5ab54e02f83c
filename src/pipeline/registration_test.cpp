// What follows from a pipeline without a database: plans of its stages, what a worker tells of it,
// and which jobs it takes.
#include "base/file.h"
#include "pipeline/definition/parse.h"
#include "pipeline/document_handler.h"
#include "pipeline/stage_plan.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace millrace::pipeline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

Pipeline parse(const std::string& text) {
  auto checked = parse_pipeline(text);
  for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("p.toml");
  return checked.pipeline.value_or(Pipeline{});
}

constexpr const char* kLetters = R"(
name = "letters"
version = "1.0.0"
[[queue]]
name = "letters"
backoff_base = "3s"
[[stage]]
name = "scan"
run = "scan"
queue = "letters"
timeout = "90s"
max_attempts = 3
[[stage]]
name = "read"
run = "ocr"
[[stage]]
name = "map"
run = "spatial"
[[stage]]
name = "about"
run = "exec:about"
requires = ["text"]
outputs = ["kind"]
[[stage]]
name = "label"
run = "exec:label"
each = "page"
requires = ["map", "words", "text", "kind", "pages"]
)";

std::vector<std::string> inputs_of(const Pipeline& pipeline, std::string_view stage) {
  std::vector<std::string> out;
  const auto plan = plan_of(pipeline, *pipeline.find(stage));
  for (const auto& input : plan.at("inputs").as_array()) out.emplace_back(input.as_string());
  return out;
}

TEST(AuthorsStage, APageOfAnAuthorsStageDependsOnWhatItRequires) {
  const auto pipeline = parse(kLetters);
  // Each maker once; what was made of the document is marked; the count of pages decides nothing.
  EXPECT_THAT(inputs_of(pipeline, "label"), ElementsAre("map", "read", "document:about"));
  EXPECT_THAT(inputs_of(pipeline, "read"), ElementsAre("content"));
  const auto free = parse(
      "name = \"p\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"s\"\nrun = \"scan\"\n[[stage]]\nname "
      "= "
      "\"x\"\nrun = \"exec:x\"\neach = \"page\"\n");
  EXPECT_THAT(inputs_of(free, "x"), ElementsAre("content"));
}

TEST(AuthorsStage, AJobHasTheFieldsOfItsStage) {
  const auto pipeline = parse(kLetters);
  const auto job = job_of(pipeline.stages.front());
  EXPECT_EQ(job.at("job_type").as_string(), "scan");
  EXPECT_EQ(job.at("queue").as_string(), "letters");
  EXPECT_EQ(job.at("max_attempts").to_number<int>(), 3);
  EXPECT_EQ(job.at("run_timeout_seconds").to_number<double>(), 90);
  EXPECT_FALSE(job_of(pipeline.stages.back()).contains("max_attempts")) << "the queue's";
}

class Registration : public ::testing::Test {
 protected:
  Registration() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pipelines-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Registration() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& file, const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(folder_ / file, text));
  }
  PipelineSet load() const {
    auto loaded = PipelineSet::load(folder_);
    EXPECT_TRUE(loaded) << loaded.error().message;
    for (const auto& problem : loaded->problems) ADD_FAILURE() << problem;
    return std::move(loaded->set);
  }

  std::filesystem::path folder_;
};

TEST_F(Registration, TellsOfTheVersionForNewDocumentsWithAllItsQueues) {
  write("a.toml", kLetters);
  std::string next(kLetters);
  next.replace(next.find("1.0.0"), 5, "1.1.0");
  write("b.toml", next);
  const auto set = load();
  const auto all = registration_of(set, Takes::file, json::Object{{"max_attempts", 9}});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].at("name").as_string(), "guardian");
  EXPECT_EQ(all[1].at("name").as_string(), "ingest");
  const auto& letters = all[2].as_object();
  EXPECT_EQ(letters.at("version").as_string(), "1.1.0");
  EXPECT_EQ(letters.at("hash").as_string(), set.find("letters")->hash);
  EXPECT_EQ(letters.at("first_job").at("job_type").as_string(), "scan");
  EXPECT_EQ(to_json(letters.at("queues")),
            R"([{"name":"letters","policy":{"backoff_base":"3s","max_attempts":9}},)"
            R"({"name":"default","policy":{"max_attempts":9}}])");
  EXPECT_EQ(letters.at("job_types").as_array().size(), 5U);
}

// Several pipelines, and several versions, may have a stage of one name in different queues.
TEST_F(Registration, JobsOfAllVersionsAreTakenFromAllTheirQueues) {
  const auto notes = [](const std::string& version, const std::string& queue) {
    return fmt::format(
        "name = \"notes\"\nversion = \"{}\"\n[[stage]]\nname = \"scan\"\nrun = \"scan\"\nqueue = "
        "\"{}\"\n",
        version, queue);
  };
  write("a.toml", kLetters);
  write("b.toml", notes("1.0.0", "old"));
  write("c.toml", notes("2.0.0", "new"));
  const auto types = document_job_types(load());
  for (const char* queue : {"letters", "old", "new"}) {
    EXPECT_THAT(types, Contains(DocumentJobType{"scan", queue})) << queue;
  }
  EXPECT_THAT(types, Contains(DocumentJobType{"document_outputs", "fast_queue"}));
  EXPECT_THAT(types, Contains(DocumentJobType{"ai_queue_pass1", "ai_queue"}));
  EXPECT_THAT(types, Not(Contains(DocumentJobType{"scan", "default"})));
}

// Types are shared: where two pipelines ask different providers in stages of one name, claims count
// against nobody, and each job takes its room itself.
TEST_F(Registration, BindsATypeToAProviderOnlyWhereAllPipelinesMeanTheSame) {
  const auto like = [](const std::string& name, const std::string& detect,
                       const std::string& extract) {
    return fmt::format(
        "name = \"{}\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"scan\"\nrun = \"scan\"\n"
        "[[stage]]\nname = \"read\"\nrun = \"ocr\"\n[[stage]]\nname = \"map\"\nrun = \"spatial\"\n"
        "[[stage]]\nname = \"detect\"\nrun = \"detect\"\nprovider = \"{}\"\n"
        "[[stage]]\nname = \"extract\"\nrun = \"extract\"\nprovider = \"{}\"\n",
        name, detect, extract);
  };
  write("a.toml", like("a", "openai", "openai"));
  write("b.toml", like("b", "local", "openai"));
  write("c.toml", like("c", "anthropic", "openai"));
  const auto set = load();
  const auto bindings = provider_bindings(set, [](const Stage& stage) {
    return stage.provider == kLocalProvider || stage.provider == kNoProvider
               ? std::string()
               : stage.provider + ":m";
  });
  EXPECT_TRUE(bindings.at("detect").is_null());
  EXPECT_EQ(bindings.at("extract"), "openai:m");
  EXPECT_TRUE(bindings.at("read").is_null());
  EXPECT_TRUE(bindings.at("ai_queue_pass1").is_null()) << "of the pipeline inside the program";
}

}  // namespace
}  // namespace millrace::pipeline
