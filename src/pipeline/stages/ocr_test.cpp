// Pages whose content has killed its readers: no reader is started for them, and their file is not
// even fetched.
#include "base/run.h"
#include "blob/filesystem_store.h"
#include "pipeline/definition/parse.h"
#include "pipeline/stage_job.h"

#include <boost/asio/thread_pool.hpp>
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
name = "words"
run = "ocr"
)";

class NoStore final : public store::DocumentStore {
 public:
  Task<store::DocumentWork> begin_document(JobId, json::Object) override { co_return unused(); }
  Task<store::DocumentWork> document_work(JobId) override { co_return unused(); }
  Task<std::vector<store::PageResult>> page_results(Uuid, std::vector<std::string>, int,
                                                    int) override {
    co_return unused();
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

 private:
  static std::unexpected<Error> unused() { return fail(ErrorKind::internal, "not asked here"); }
};

class QuarantinedPages : public testing::Test {
 protected:
  QuarantinedPages() {
    std::string name = (fs::temp_directory_path() / "millrace_ocr_XXXXXX").string();
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
    pipeline_ = std::make_shared<const Pipeline>(parse_pipeline(kLetters).pipeline.value());
    claimed_.job_type = "words";
    claimed_.payload_json = R"({"shell_file_id":"x"})";
    context_ = std::make_shared<worker::JobContext>(
        worker::JobContext::Parts{.job = claimed_,
                                  .output = output_,
                                  .token = cancel_.token(),
                                  .clock = clock_,
                                  .deadline = clock_.now() + std::chrono::hours(1),
                                  .run_timeout = std::chrono::hours(1)});
  }
  ~QuarantinedPages() override {
    services_.reset();
    contents_.reset();
    pool_.join();
    fs::remove_all(root_);
  }

  // Of a file whose content is not there: whoever asks for it is told so.
  StageJob job() {
    StageJob job{.services = *services_,
                 .context = context_,
                 .work = {.document = store::DocumentWork::State{.kind = "pdf", .page_count = 3}},
                 .pipeline = pipeline_,
                 .stage = pipeline_->find("words")};
    job.work.file.content = {.sha256 = std::string(64, 'a'),
                             .size_bytes = 9,
                             .store_key = fmt::format("sha256/aa/{}", std::string(64, 'a'))};
    return job;
  }

  ManualClock clock_;
  SeededRandom random_{7};
  boost::asio::thread_pool pool_{2};
  fs::path root_;
  NoStore store_;
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
};

TEST_F(QuarantinedPages, d06_APageThatWaitsIsGivenUpWithoutBeingRead) {
  auto waiting = job();
  waiting.work.page = {.page = 2, .content_sha256 = "ab"};
  waiting.work.quarantined = true;
  const auto stopped = run_blocking(run_ocr(waiting));
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->kind, Outcome::Kind::permanent);
  EXPECT_THAT(stopped->error_json, HasSubstr("\"error_type\":\"quarantined\""));
  EXPECT_FALSE(stopped->crash);

  waiting.work.quarantined = false;
  const auto asked = run_blocking(run_ocr(waiting));
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_THAT(asked->error_json, HasSubstr("\"error_type\":\"content_missing\""));
}

TEST_F(QuarantinedPages, d06_AGroupLeavesThemToJobsOfTheirOwn) {
  auto waiting = job();
  for (const int page : {1, 3}) {
    waiting.work.group.push_back(
        {.page = {.page = page, .content_sha256 = "ab", .text_chars = 90}, .quarantined = true});
  }
  const auto made = run_blocking(read_group(waiting));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->done.empty());
  EXPECT_EQ(made->left, (std::vector<int>{1, 3}));
  // And the job of such a page is told.
  EXPECT_TRUE(job_of_page(waiting, waiting.work.group.front()).work.quarantined);

  waiting.work.group.front().quarantined = false;
  EXPECT_FALSE(run_blocking(read_group(waiting))) << "one of them is to be read";
}

}  // namespace
}  // namespace millrace::pipeline
