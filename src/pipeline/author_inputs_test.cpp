// What programs and addresses of authors are told, for a page and for a document.
#include "pipeline/author_inputs.h"

#include "base/run.h"
#include "blob/filesystem_store.h"
#include "pipeline/definition/parse.h"

#include <boost/asio/thread_pool.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace millrace::pipeline {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kLetters = R"(
name = "letters"
version = "1.0.0"
[[stage]]
name = "scan"
run = "scan"
[[stage]]
name = "about"
run = "exec:about"
outputs = ["kind"]
[[stage]]
name = "label"
run = "exec:label"
each = "page"
requires = ["kind", "pages"]
outputs = ["labels"]
options = { top = 3 }
[[stage]]
name = "all"
run = "exec:all"
requires = ["labels", "kind", "pages"]
)";

// Results of pages, as the database has them.
class Results final : public store::DocumentStore {
 public:
  Task<store::DocumentWork> begin_document(JobId, json::Object) override { co_return unused(); }
  Task<store::DocumentWork> document_work(JobId) override { co_return unused(); }
  Task<std::vector<store::PageResult>> page_results(Uuid, std::vector<std::string> stages,
                                                    int after, int pages_max) override {
    std::vector<store::PageResult> out;
    for (const auto& one : rows) {
      if (one.stage == stages.at(0) && one.page > after && one.page <= after + pages_max) {
        out.push_back(one);
      }
    }
    co_return out;
  }
  Task<std::vector<store::PageState>> pages_of(Uuid) override { co_return unused(); }
  Task<store::DocumentTimes> document_times(Uuid, JobId) override { co_return unused(); }
  Task<std::string> pipeline_definition(std::string) override { co_return unused(); }
  Task<CallPermit> begin_call(json::Object) override { co_return unused(); }
  Task<void> end_call(Uuid, json::Object) override { co_return unused(); }
  Task<void> keep_answer(store::Held, Uuid, json::Object, store::PaidAnswer) override {
    co_return unused();
  }
  Task<std::vector<store::PaidAnswer>> kept_answers(JobId, int) override { co_return unused(); }

  std::vector<store::PageResult> rows;

 private:
  static std::unexpected<Error> unused() { return fail(ErrorKind::internal, "not asked here"); }
};

class AuthorInputs : public testing::Test {
 protected:
  AuthorInputs() {
    std::string name = (fs::temp_directory_path() / "millrace_author_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    blobs_ = blob::FilesystemStore::make({.root = root_ / "blobs"}, pool_.get_executor(), clock_,
                                         random_)
                 .value();
    contents_ = std::make_unique<ContentFiles>(*blobs_, pool_.get_executor(),
                                               ContentFiles::Options{.folder = root_});
    services_.emplace(Services{.store = store_,
                               .blobs = *blobs_,
                               .children = children_,
                               .contents = *contents_,
                               .pipelines = set_,
                               .threads = pool_.get_executor(),
                               .clock = clock_,
                               .random = random_,
                               .log = Logger::silent()});
    auto checked = parse_pipeline(kLetters);
    for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("p.toml");
    pipeline_ = std::make_shared<const Pipeline>(checked.pipeline.value());
    claimed_.job_type = "label";
    claimed_.payload_json = R"({"shell_file_id":"x"})";
    context_ = std::make_shared<worker::JobContext>(
        worker::JobContext::Parts{.job = claimed_,
                                  .output = output_,
                                  .token = cancel_.token(),
                                  .clock = clock_,
                                  .deadline = clock_.now() + std::chrono::hours(1),
                                  .run_timeout = std::chrono::hours(1)});
  }
  ~AuthorInputs() override {
    services_.reset();
    contents_.reset();
    pool_.join();
    fs::remove_all(root_);
  }

  store::StageResult put(std::string text) {
    const auto size = static_cast<std::int64_t>(text.size());
    const auto kept =
        run_blocking(keep_content(*blobs_, std::move(text), "application/json")).value();
    return {.content = {.sha256 = std::string(kept.at("sha256").as_string()),
                        .size_bytes = size,
                        .store_key = std::string(kept.at("store_key").as_string())}};
  }
  Result<std::string> input(const char* stage, int page = 0) {
    StageJob job{.services = *services_,
                 .context = context_,
                 .work = work_,
                 .pipeline = pipeline_,
                 .stage = pipeline_->find(stage)};
    if (page > 0) {
      job.work.page = {.page = page, .content_sha256 = "ab", .width_pt = 612, .text_chars = 9};
    }
    return run_blocking(author_input(job));
  }
  json::Object told(const char* stage, int page = 0) {
    const auto text = input(stage, page);
    EXPECT_TRUE(text) << text.error().message;
    const auto object = parse_json_object(text.value_or("{}"));
    EXPECT_TRUE(object) << object.error().message;
    return object.value_or(json::Object());
  }

  ManualClock clock_;
  SeededRandom random_{7};
  boost::asio::thread_pool pool_{2};
  fs::path root_;
  Results store_;
  std::unique_ptr<blob::BlobStore> blobs_;
  std::unique_ptr<ContentFiles> contents_;
  Children children_{pool_.get_executor(), {}};  // Never started.
  PipelineSet set_;
  std::optional<Services> services_;
  std::shared_ptr<const Pipeline> pipeline_;
  ClaimedJob claimed_;
  worker::JobOutput output_{clock_, {}, nullptr};
  CancelSource cancel_;
  std::shared_ptr<worker::JobContext> context_;
  store::DocumentWork work_{
      .file = {.name = "a \"letter\".pdf"},
      .document = store::DocumentWork::State{.kind = "pdf", .mime = "m", .page_count = 130}};
};

TEST_F(AuthorInputs, APageIsToldWithWhatItRequires) {
  work_.whole["about"] = put("{\"kind\": \"bill\"}");
  const auto job = told("label", 2);
  EXPECT_EQ(job.at("payload").at("shell_file_id").as_string(), "x");
  EXPECT_EQ(job.at("document").at("file_name").as_string(), "a \"letter\".pdf");
  EXPECT_EQ(job.at("document").at("page_count").to_number<int>(), 130);
  EXPECT_EQ(job.at("page").to_number<int>(), 2);
  EXPECT_EQ(to_json(job.at("options")), R"({"top":3})");
  EXPECT_EQ(to_json(job.at("inputs").at("kind")), R"({"kind":"bill"})");
  EXPECT_EQ(job.at("inputs").at("pages").at("width_pt").to_number<int>(), 612);
}

TEST_F(AuthorInputs, ADocumentIsToldPageByPageWithoutThoseThatWereGivenUp) {
  work_.results["about"] = put("7");
  work_.results["scan"] = put(R"({"verdict":"clean","pages":[{"page":1},{"page":2}]})");
  for (const int page : {1, 3, 64, 65, 130}) {
    store_.rows.push_back(
        {.page = page, .stage = "label", .result = put(fmt::format("[{}]", page))});
  }
  const auto job = told("all");
  EXPECT_FALSE(job.contains("page"));
  EXPECT_EQ(to_json(job.at("inputs").at("labels")),
            R"([{"page":1,"content":[1]},{"page":3,"content":[3]},{"page":64,"content":[64]},)"
            R"({"page":65,"content":[65]},{"page":130,"content":[130]}])");
  EXPECT_EQ(to_json(job.at("inputs").at("kind")), "7");
  EXPECT_EQ(to_json(job.at("inputs").at("pages")), R"([{"page":1},{"page":2}])");
}

TEST_F(AuthorInputs, MoreThanMemoryIsMeantForIsRefusedBeforeItIsRead) {
  work_.whole["about"] = {.content = {.sha256 = std::string(64, 'a'),
                                      .size_bytes = std::int64_t{33} * 1024 * 1024,
                                      .store_key = "gone"}};
  const auto refused = input("label", 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("stage label requires more than 33554432 bytes"));
}

TEST_F(AuthorInputs, ManyPagesTogetherAreBoundedToo) {
  work_.results["about"] = put("7");
  work_.results["scan"] = put("{}");
  const auto page = put(std::string(400'000, '1'));
  for (int i = 1; i <= 130; ++i) {
    store_.rows.push_back({.page = i, .stage = "label", .result = page});
  }
  const auto refused = input("all");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
}

TEST_F(AuthorInputs, WhatIsMissingIsNamed) {
  const auto refused = input("label", 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
  EXPECT_EQ(refused.error().message, "stage about has left no kind");
}

}  // namespace
}  // namespace millrace::pipeline
