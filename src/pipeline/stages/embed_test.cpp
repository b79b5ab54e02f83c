// Documents that take longer than a job may run, and chunks of a model that no worker has any more:
// the stages embed and publish by the store's answers alone.
#include "base/run.h"
#include "blob/filesystem_store.h"
#include "pipeline/definition/parse.h"
#include "pipeline/stage_job.h"

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace millrace::pipeline {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr const char* kIngest = R"(
name = "texts"
version = "1.0.0"
[[stage]]
name = "texts_document"
run = "parse"
[[stage]]
name = "texts_validate"
run = "validate"
[[stage]]
name = "texts_chunk"
run = "chunk"
[[stage]]
name = "texts_embed"
run = "embed"
options = { batch_max = 2 }
[[stage]]
name = "texts_publish"
run = "publish"
)";

class NoDocuments final : public store::DocumentStore {
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

// A generation of so many chunks. Whatever is stored takes some time.
class OneGeneration final : public store::IngestStore {
 public:
  explicit OneGeneration(ManualClock& clock) : clock_(clock) {}

  Task<std::optional<store::Generation>> find_generation(JobId) override {
    auto now = generation;
    now.embeds_done = embedded;
    now.placed = placed;
    co_return std::optional(now);
  }
  Task<std::vector<store::PendingChunk>> pending_chunks(Uuid, int after, int limit) override {
    std::vector<store::PendingChunk> chunks;
    const int last = std::min(*generation.chunks_total, std::max(after + 1, embedded) + limit);
    for (int ord = std::max(after + 1, embedded); ord < last; ++ord) {
      const auto text = fmt::format("text {}", ord);
      chunks.push_back({.ord = ord, .embed_sha256 = text, .text = text});
    }
    co_return chunks;
  }
  Task<int> reuse_vectors(store::Held, Uuid, store::ChunkRange) override { co_return 0; }
  Task<void> put_vectors(store::Held, Uuid, store::VectorBatch batch,
                         std::optional<store::CallSettled>) override {
    embedded += static_cast<int>(batch.chunks.size());
    clock_.advance(batch_takes);
    co_return ok();
  }
  Task<int> place_chunks(store::Held, Uuid) override {
    const int count = std::min(2, *generation.chunks_total - placed);
    placed += count;
    clock_.advance(batch_takes);
    co_return count;
  }

  Task<std::optional<store::ContentRef>> find_parsed(JobId) override { co_return unused(); }
  Task<store::Generation> begin_generation(store::Held, json::Object) override {
    co_return unused();
  }
  Task<void> put_chunks(store::Held, Uuid, json::Array) override { co_return unused(); }
  Task<store::CapacityGrant> take_capacity(store::Held, int, std::uint64_t, std::string) override {
    co_return unused();
  }
  Task<std::vector<std::string>> list_chunks(Uuid, int, int) override { co_return unused(); }

  store::Generation generation{
      .state = "building", .model = "m", .version = "1", .dimension = 2, .chunks_total = 6};
  std::chrono::milliseconds batch_takes{0};
  int embedded = 0;
  int placed = 0;

 private:
  static std::unexpected<Error> unused() { return fail(ErrorKind::internal, "not asked here"); }

  ManualClock& clock_;
};

class FreeModel final : public provider::EmbeddingProvider {
 public:
  std::string_view name() const override { return "local:m"; }
  const provider::EmbeddingModelInfo& info() const override { return info_; }
  provider::EmbedBatchLimits limits() const override {
    return {.tokens_per_input_max = 100, .tokens_total_max = 10'000};
  }
  std::string_view tokenizer() const override { return "bytes"; }
  std::uint64_t count_tokens(std::string_view text) const override { return text.size(); }
  bool paid() const override { return false; }
  awaitable<provider::Answer<provider::EmbedAnswer>> embed(std::vector<std::string> texts,
                                                           CancelToken) override {
    provider::EmbedAnswer answer;
    answer.vectors.assign(texts.size(), {1.0F, 0.5F});
    co_return answer;
  }

 private:
  provider::EmbeddingModelInfo info_{.model = "m", .version = "1", .dimension = 2};
};

class LongDocuments : public testing::Test {
 protected:
  LongDocuments() {
    std::string name = (fs::temp_directory_path() / "millrace_embed_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    blobs_ = blob::FilesystemStore::make({.root = root_ / "blobs"}, pool_.get_executor(), clock_,
                                         random_)
                 .value();
    contents_ = std::make_unique<ContentFiles>(*blobs_, pool_.get_executor(),
                                               ContentFiles::Options{.folder = root_});
    services_.emplace(Services{.store = documents_,
                               .blobs = *blobs_,
                               .children = children_,
                               .contents = *contents_,
                               .pipelines = set_,
                               .threads = pool_.get_executor(),
                               .clock = clock_,
                               .random = random_,
                               .log = Logger::silent(),
                               .ingest = &store_});
    services_->embeddings["local"] = [this](std::string) -> Task<EmbeddingService> {
      co_return EmbeddingService{.provider = &model_};
    };
    pipeline_ = std::make_shared<const Pipeline>(parse_pipeline(kIngest).pipeline.value());
  }
  ~LongDocuments() override {
    services_.reset();
    contents_.reset();
    pool_.join();
    fs::remove_all(root_);
  }

  // One delivery, which may take ten minutes.
  Outcome deliver(const std::string& stage) {
    ClaimedJob claimed;
    claimed.job_type = stage;
    worker::JobOutput output{clock_, {}, nullptr};
    CancelSource cancel;
    StageJob job{.services = *services_,
                 .context = std::make_shared<worker::JobContext>(
                     worker::JobContext::Parts{.job = claimed,
                                               .output = output,
                                               .token = cancel.token(),
                                               .clock = clock_,
                                               .deadline = clock_.now() + 10min,
                                               .run_timeout = 10min}),
                 .work = {.document = store::DocumentWork::State{.kind = "markdown"}},
                 .pipeline = pipeline_,
                 .stage = pipeline_->find(stage)};
    auto outcome = run_blocking(stage == "texts_embed" ? run_embed(job) : run_publish(job));
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *std::move(outcome) : Outcome::permanent("none", "");
  }

  ManualClock clock_;
  SeededRandom random_{7};
  boost::asio::thread_pool pool_{2};
  fs::path root_;
  NoDocuments documents_;
  OneGeneration store_{clock_};
  FreeModel model_;
  std::unique_ptr<blob::BlobStore> blobs_;
  std::unique_ptr<ContentFiles> contents_;
  Children children_{pool_.get_executor(), {}};  // Never started.
  PipelineSet set_;
  std::optional<Services> services_;
  std::shared_ptr<const Pipeline> pipeline_;
};

TEST_F(LongDocuments, AreEmbeddedByAsManyDeliveriesAsTheyNeed) {
  store_.batch_takes = 6min;
  for (const int embedded : {2, 4}) {
    const auto outcome = deliver("texts_embed");
    EXPECT_EQ(outcome.kind, Outcome::Kind::rescheduled) << outcome.error_json;
    EXPECT_EQ(outcome.retry_after, 0ms);
    EXPECT_EQ(store_.embedded, embedded);
  }
  // What is done is not put off, however long it took.
  EXPECT_EQ(deliver("texts_embed").kind, Outcome::Kind::ok);
  EXPECT_EQ(store_.embedded, 6);
}

TEST_F(LongDocuments, AreEmbeddedAtOnceWhereThereIsTime) {
  store_.batch_takes = 1min;
  EXPECT_EQ(deliver("texts_embed").kind, Outcome::Kind::ok);
  EXPECT_EQ(store_.embedded, 6);
}

TEST_F(LongDocuments, ArePublishedByAsManyDeliveriesAsTheyNeed) {
  store_.embedded = 6;
  store_.batch_takes = 3min;
  const auto outcome = deliver("texts_publish");
  EXPECT_EQ(outcome.kind, Outcome::Kind::rescheduled) << outcome.error_json;
  EXPECT_EQ(outcome.retry_after, 0ms);
  EXPECT_EQ(store_.placed, 4);
  EXPECT_EQ(deliver("texts_publish").kind, Outcome::Kind::ok);
  EXPECT_EQ(store_.placed, 6);
}

TEST_F(LongDocuments, WaitForTheModelThatTheyAreCutForAndNotForEver) {
  store_.generation.version = "0";
  store_.generation.turned_away = 19;
  const auto waits = deliver("texts_embed");
  EXPECT_EQ(waits.kind, Outcome::Kind::throttled);
  EXPECT_THAT(waits.error_json, HasSubstr(R"("error_type":"other_model")"));
  EXPECT_THAT(waits.error_json, HasSubstr(R"("asked":false)"));

  store_.generation.turned_away = 20;
  const auto ends = deliver("texts_embed");
  EXPECT_EQ(ends.kind, Outcome::Kind::permanent);
  EXPECT_THAT(ends.error_json, HasSubstr(R"("error_type":"model_changed")"));
  EXPECT_THAT(ends.error_json, HasSubstr("retry the document"));
  EXPECT_EQ(store_.embedded, 0);
}

}  // namespace
}  // namespace millrace::pipeline
