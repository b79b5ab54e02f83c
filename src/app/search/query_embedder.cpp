#include "app/search/query_embedder.h"

#include "app/documents/embedding_services.h"
#include "app/documents/pipelines.h"
#include "base/cancel.h"
#include "base/either.h"
#include "embed/text/utf8.h"
#include "pipeline/stage_plan.h"

#include <boost/asio/thread_pool.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kPipeline = "ingest";
constexpr int kThreads = 2;
constexpr int kWaitingMax = 64;
constexpr milliseconds kTimeMax{10'000};

ErrorKind kind_of(provider::CallFailure::Kind kind) {
  using enum provider::CallFailure::Kind;
  switch (kind) {
    case throttled:
      return ErrorKind::throttled;
    case cancelled:
      return ErrorKind::cancelled;
    case permanent:
      return ErrorKind::invalid_argument;
    case blocked:
    case retry:
    case unknown:
      return ErrorKind::unavailable;
  }
  std::unreachable();
}

// The beginning of a question that is longer than the model reads.
std::string cut_to(std::string text, const provider::EmbeddingProvider& provider) {
  const auto most = provider.limits().tokens_per_input_max;
  if (most == 0) return text;
  for (auto tokens = provider.count_tokens(text); tokens > most;
       tokens = provider.count_tokens(text)) {
    auto size = std::min(text.size() - 1, text.size() * most / tokens);
    text.resize(embed::utf8_prefix(std::string_view(text).substr(0, size)));
  }
  return text;
}

class PipelineEmbedder final : public api::QueryEmbedder {
 public:
  PipelineEmbedder(Clock& clock, std::string provider, std::string model, std::string missing)
      : clock_(clock),
        provider_(std::move(provider)),
        model_(std::move(model)),
        missing_(std::move(missing)) {}
  ~PipelineEmbedder() override { threads_.join(); }  // What is computed takes milliseconds.

  Executor threads() { return threads_.get_executor(); }
  void use(std::unique_ptr<EmbeddingServices> services) {
    services_ = std::move(services);
    openers_ = services_->openers();
  }

  Task<store::SearchVector> embed_query(std::string query) override {
    if (!missing_.empty()) co_return fail(ErrorKind::not_found, missing_);
    const auto opener = openers_.find(provider_);
    if (opener == openers_.end()) {
      co_return fail(ErrorKind::not_found,
                     fmt::format("provider {} of the pipeline {} is not configured here", provider_,
                                 kPipeline));
    }
    const Place place(waiting_);
    if (waiting_.load() > kWaitingMax) {
      co_return fail(ErrorKind::throttled, "too many questions wait for their vectors");
    }
    MR_CO_TRY(const auto service, co_await opener->second(model_));
    auto& provider = *service.provider;
    CancelSource cancel;
    using namespace either;
    std::vector<std::string> texts;
    texts.push_back(cut_to(std::move(query), provider));
    auto ended =
        co_await (provider.embed(std::move(texts), cancel.token()) || clock_.sleep_for(kTimeMax));
    if (ended.index() == 1) {
      co_return fail(ErrorKind::unavailable,
                     fmt::format("{} did not answer in time", provider.name()));
    }
    auto& answer = std::get<0>(ended);
    if (!answer) co_return fail(kind_of(answer.error().kind), answer.error().message);
    co_return store::SearchVector{.values = std::move(answer->vectors.at(0)),
                                  .model = provider.info().model,
                                  .version = provider.info().version};
  }

 private:
  // One question among those that wait.
  struct Place {
    explicit Place(std::atomic<int>& of) : count(of) { ++count; }
    ~Place() { --count; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    std::atomic<int>& count;
  };

  Clock& clock_;
  std::string provider_;
  std::string model_;
  std::string missing_;  // Why no question can be embedded; empty: they can.
  std::atomic<int> waiting_{0};
  std::unique_ptr<EmbeddingServices> services_;
  std::map<std::string, pipeline::OpenEmbedding, std::less<>> openers_;
  boost::asio::thread_pool threads_{kThreads};  // Last: its work uses the others.
};

}  // namespace

Result<std::unique_ptr<api::QueryEmbedder>> make_query_embedder(Context& context,
                                                                http::Client& client) {
  std::string provider;
  std::string model;
  std::string missing;
  const auto loaded = load_pipelines(context.settings);
  const auto* pipeline = loaded ? loaded->set.find(kPipeline) : nullptr;
  const auto* stage =
      pipeline == nullptr ? nullptr : pipeline::stage_doing(*pipeline, pipeline::RunKind::embed);
  if (!loaded) {
    missing = loaded.error().message;
  } else if (stage == nullptr) {
    missing = fmt::format("no pipeline {} has a stage that embeds", kPipeline);
  } else {
    provider = stage->provider;
    const auto* named = stage->options.if_contains("model");
    if (named != nullptr && named->is_string()) model = std::string(named->get_string());
  }
  auto made = std::make_unique<PipelineEmbedder>(context.clock, std::move(provider),
                                                 std::move(model), std::move(missing));
  MR_TRY(auto services, EmbeddingServices::make(context.settings, {.client = client,
                                                                   .clock = context.clock,
                                                                   .threads = made->threads()}));
  made->use(std::move(services));
  return std::unique_ptr<api::QueryEmbedder>(std::move(made));
}

}  // namespace millrace::app
