#include "app/search/query_embedder.h"

#include "app/documents/embedding_services.h"
#include "app/documents/pipelines.h"
#include "app/search/question_form.h"
#include "base/cancel.h"
#include "base/either.h"
#include "embed/text/utf8.h"
#include "pipeline/paid_call.h"
#include "pipeline/stage_plan.h"

#include <boost/asio/thread_pool.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
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
  PipelineEmbedder(Clock& clock, Logger log, store::QuestionStore& questions, std::string provider,
                   std::string model, std::string missing)
      : clock_(clock),
        log_(std::move(log)),
        questions_(questions),
        provider_(std::move(provider)),
        model_(std::move(model)),
        missing_(std::move(missing)) {}
  ~PipelineEmbedder() override { threads_.join(); }  // What is computed takes milliseconds.

  Executor threads() { return threads_.get_executor(); }
  void use(std::unique_ptr<EmbeddingServices> services) {
    services_ = std::move(services);
    openers_ = services_->openers();
  }

  Task<store::SearchVector> embed_query(store::CallContext caller, std::string query) override {
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
    auto text = cut_to(std::move(query), provider);
    const provider::Usage estimate{.input = provider.count_tokens(text)};
    std::optional<Uuid> paid;
    if (provider.paid()) {
      MR_CO_TRY(paid, co_await pay(caller, service, estimate, text));
    }
    auto answer = co_await ask(provider, {std::move(text)});
    if (answer && !answer->usage.reported) answer->usage = estimate;
    if (paid) co_await settle(std::move(caller), *paid, answer, estimate, service.price);
    if (!answer) co_return fail(kind_of(answer.error().kind), answer.error().message);
    auto values = std::move(answer->vectors.at(0));
    if (!provider.paid()) {
      MR_CO_TRY(const auto form, co_await form_of(provider));
      values = form->taken_out_of(std::move(values));
    }
    co_return store::SearchVector{.values = std::move(values),
                                  .model = provider.info().model,
                                  .version = provider.info().version};
  }

 private:
  using Answer = provider::Answer<provider::EmbedAnswer>;

  // The call that the question is paid with, on record.
  Task<std::optional<Uuid>> pay(store::CallContext caller, pipeline::EmbeddingService service,
                                provider::Usage estimate, std::string text) {
    const auto& provider = *service.provider;
    MR_CO_TRY(
        const auto permit,
        co_await questions_.begin_question(
            std::move(caller), {.provider = std::string(provider.name()),
                                .model = provider.info().model,
                                .request_sha256 = pipeline::sha256_hex(text),
                                .estimated_tokens = estimate.total(),
                                .reserved_micros = provider::cost_of(estimate, service.price)}));
    switch (permit.answer) {
      case store::QuestionPermit::Answer::granted:
        co_return std::optional(permit.call);
      case store::QuestionPermit::Answer::no_room:
        co_return fail(
            ErrorKind::throttled,
            fmt::format("there is no room at the limits of {} for {:.1f} s", provider.name(),
                        static_cast<double>(permit.retry.count()) / 1e3));
      case store::QuestionPermit::Answer::over_budget:
        co_return fail(ErrorKind::throttled,
                       fmt::format("the budget of the day for {} is used up", provider.name()));
    }
    std::unreachable();
  }

  // Made once, by the first question; by several that come at once, and then they are equal.
  Task<std::shared_ptr<const QuestionForm>> form_of(provider::EmbeddingProvider& provider) {
    {
      const std::lock_guard lock(mutex_);
      if (form_ != nullptr) co_return form_;
    }
    const auto answer = co_await ask(provider, empty_questions());
    if (!answer) co_return fail(kind_of(answer.error().kind), answer.error().message);
    auto made = std::make_shared<const QuestionForm>(answer->vectors);
    const std::lock_guard lock(mutex_);
    if (form_ == nullptr) form_ = std::move(made);
    co_return form_;
  }

  awaitable<Answer> ask(provider::EmbeddingProvider& provider, std::vector<std::string> texts) {
    CancelSource cancel;
    using namespace either;
    auto ended =
        co_await (provider.embed(std::move(texts), cancel.token()) || clock_.sleep_for(kTimeMax));
    if (ended.index() == 0) co_return std::move(std::get<0>(ended));
    co_return std::unexpected(
        provider::CallFailure{.kind = provider::CallFailure::Kind::unknown,
                              .error_type = "timeout",
                              .message = fmt::format("{} did not answer in time", provider.name()),
                              .maybe_charged = true});
  }

  // What cannot be told to the database stays reserved.
  awaitable<void> settle(store::CallContext caller, Uuid call, const Answer& answer,
                         provider::Usage estimate, provider::Price price) {
    auto end = answer ? pipeline::call_end(nullptr,
                                           {.usage = answer->usage,
                                            .response_id = answer->response_id,
                                            .rate = answer->rate,
                                            .estimate = estimate},
                                           price)
                      : pipeline::call_end(&answer.error(), {.estimate = estimate}, price);
    if (!answer && answer.error().kind == provider::CallFailure::Kind::throttled &&
        answer.error().retry_after) {
      end["retry_ms"] = answer.error().retry_after->count();
    }
    const auto told = co_await questions_.end_question(std::move(caller), call, std::move(end));
    if (!told) {
      log_.warn("question_not_settled",
                {{"call_id", call.to_string()}, {"error", told.error().message}});
    }
  }

  // One question among those that wait.
  struct Place {
    explicit Place(std::atomic<int>& of) : count(of) { ++count; }
    ~Place() { --count; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    std::atomic<int>& count;
  };

  Clock& clock_;
  Logger log_;
  store::QuestionStore& questions_;
  std::string provider_;
  std::string model_;
  std::string missing_;  // Why no question can be embedded; empty: they can.
  std::atomic<int> waiting_{0};
  std::mutex mutex_;                          // Guards the following.
  std::shared_ptr<const QuestionForm> form_;  // Of the model; nothing: not asked for yet.
  std::unique_ptr<EmbeddingServices> services_;
  std::map<std::string, pipeline::OpenEmbedding, std::less<>> openers_;
  boost::asio::thread_pool threads_{kThreads};  // Last: its work uses the others.
};

}  // namespace

Result<std::unique_ptr<api::QueryEmbedder>> make_query_embedder(Context& context,
                                                                http::Client& client,
                                                                store::QuestionStore& questions) {
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
  auto made =
      std::make_unique<PipelineEmbedder>(context.clock, context.log, questions, std::move(provider),
                                         std::move(model), std::move(missing));
  MR_TRY(auto services, EmbeddingServices::make(context.settings, {.client = client,
                                                                   .clock = context.clock,
                                                                   .threads = made->threads()}));
  made->use(std::move(services));
  return std::unique_ptr<api::QueryEmbedder>(std::move(made));
}

}  // namespace millrace::app
