// Vectors for the chunks of a generation, batch by batch. What the tenant has of equal texts is
// taken over; of the rest each batch is asked for once, checked, and committed by itself with the
// end of the call that was paid for it (G03, G12, F08). A death costs the batch in flight. A
// document that takes longer than a job may run takes several deliveries, and none of them is a
// failed attempt.
#include "base/fault.h"
#include "blob/disk.h"
#include "chunk/identity.h"
#include "pipeline/embed_plan.h"
#include "pipeline/embedding_choice.h"
#include "pipeline/paid_call.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace millrace::pipeline {
namespace {

// A rolling deploy has long ended by then, so that no worker has the model any more.
constexpr int kTurnedAwayMax = 20;
constexpr std::chrono::seconds kElsewhere{30};

// What is stored stays: a delivery ends while it has time enough for a batch, instead of being
// stopped in the middle of one.
bool is_half_over(worker::JobContext& context) {
  return context.deadline() - context.clock().now() < context.run_timeout() / 2;
}

Outcome another_turn() {
  return Outcome::rescheduled("goes on with the next batch", std::chrono::milliseconds(0));
}

// The run of one delivery over all batches that are left.
class Embedding {
 public:
  Embedding(StageJob& job, EmbeddingService service, store::Generation generation)
      : job_(job),
        service_(service),
        provider_(*service.provider),
        generation_(std::move(generation)),
        budget_(budget_of(provider_.limits(),
                          static_cast<std::size_t>(job.number("batch_max", 256)))) {}

  Task<Outcome> run() {
    MR_CO_TRY_VOID(co_await take_over_all());
    for (;;) {
      if (job_.context->cancelled()) co_return Outcome::cancelled(job_.context->cancel_reason());
      MR_CO_TRY(auto waiting, co_await steadily(*job_.context, [&] {
                  return job_.services.ingest->pending_chunks(generation_.id, after_, kAsk);
                }));
      if (waiting.empty() && after_ < 0) break;
      if (waiting.empty()) {
        after_ = -1;  // The last word is that of the whole generation.
        continue;
      }
      if (is_over()) co_return another_turn();
      // What was answered since is not paid for again.
      if (calls_ > 0) {
        MR_CO_TRY(const auto count,
                  co_await take_over({.after = after_, .through = waiting.back().ord}));
        if (count > 0) continue;
      }
      MR_CO_TRY(auto ended, co_await do_batch(std::move(waiting)));
      if (ended) co_return *std::move(ended);
      tell();
    }
    json::Object summary;
    summary["embeddings"] = json::Object{{"model", generation_.model},
                                         {"version", generation_.version},
                                         {"calls", calls_},
                                         {"taken_over", taken_over_},
                                         {"tokens", tokens_},
                                         {"cost_micros", cost_micros_}};
    json::Object item;
    item["summary"] = std::move(summary);
    co_return settled_stage(job_, std::move(item));
  }

 private:
  static constexpr int kAsk = 256;
  static constexpr int kTakeOver = 1'000;

  // Only a delivery that has stored something: however little time there is, all of them come on.
  bool is_over() { return stored_ && is_half_over(*job_.context); }

  // In pieces, each a short transaction that looks at its own chunks only.
  Task<void> take_over_all() {
    const int last = generation_.chunks_total.value_or(0) - 1;
    for (int after = -1; after < last && !job_.context->cancelled(); after += kTakeOver) {
      if (is_over()) co_return ok();
      MR_CO_TRY_VOID(co_await take_over({.after = after, .through = after + kTakeOver}));
    }
    co_return ok();
  }

  Task<int> take_over(store::ChunkRange range) {
    MR_CO_TRY(const auto count, co_await steadily(*job_.context, [&] {
                return job_.services.ingest->reuse_vectors(job_.held(), generation_.id, range);
              }));
    taken_over_ += count;
    stored_ = stored_ || count > 0;
    generation_.embeds_done += count;
    if (count > 0) tell();
    co_return count;
  }

  void tell() {
    const auto total = generation_.chunks_total.value_or(0);
    job_.context->progress(total == 0 ? 0 : std::min(99, 99 * generation_.embeds_done / total),
                           fmt::format("{} of {} chunks", generation_.embeds_done, total),
                           to_json(generation_.progress()));
  }

  struct Permit {
    std::optional<PaidPermit> call = {};  // Nothing: it costs none.
    EmbedBatch batch = {};
    provider::Usage estimate() const { return {.input = batch.tokens}; }
  };

  // An outcome: why the delivery ends here.
  Task<std::optional<Outcome>> do_batch(std::vector<store::PendingChunk> waiting) {
    MR_CO_TRY(auto permit, co_await permit_for(waiting));
    if (auto* ended = std::get_if<Outcome>(&permit)) co_return std::move(*ended);
    auto& allowed = std::get<Permit>(permit);
    auto& [call, batch] = allowed;
    const auto estimate = allowed.estimate();
    auto answer = co_await provider_.embed(batch.texts, job_.context->token());
    ++calls_;
    if (answer) {
      // The provider checked it too; nothing is believed of a vector that is about to be kept.
      if (auto wrong = provider::check_vectors(answer->vectors, batch.texts.size(),
                                               generation_.dimension.value_or(0))) {
        wrong->usage = answer->usage.reported ? std::optional(answer->usage) : std::nullopt;
        wrong->maybe_charged = true;
        answer = std::unexpected(*std::move(wrong));
      }
    }
    if (!answer) {
      const bool too_large = answer.error().error_type == provider::kTooLarge;
      if (call) {
        co_await end_paid_call(
            job_, call->call,
            call_end(&answer.error(), {.estimate = estimate, .capacity = std::move(call->capacity)},
                     service_.price));
      }
      // The service counts otherwise than we do: half of it, and no more from now on. What was
      // answered before is stored already, so nothing is paid for twice.
      if (too_large && batch.texts.size() > 1) {
        budget_.inputs_max = batch.texts.size() / 2;
        co_return std::optional<Outcome>();
      }
      if (too_large) answer.error() = refusal(waiting.front(), std::move(answer).error());
      co_return failed_call(answer.error(), provider_.name(), call ? &*call : nullptr, estimate);
    }
    MR_FAULT("embed.answered");
    const auto usage = answer->usage.reported
                           ? answer->usage
                           : provider::Usage{.input = batch.tokens, .reported = false};
    auto sent = co_await blob::on_disk(job_.services.threads, [&] {
      store::VectorBatch out{.id = batch_id(batch, waiting)};
      for (std::size_t i = 0; i < batch.chunks(); ++i) {
        out.add(waiting[i].id, answer->vectors[batch.text_of[i]]);
      }
      return out;
    });
    std::optional<store::CallSettled> settled;
    if (call) {
      settled = store::CallSettled{.call = call->call,
                                   .end = call_end(nullptr,
                                                   {.usage = usage,
                                                    .response_id = answer->response_id,
                                                    .rate = answer->rate,
                                                    .estimate = estimate,
                                                    .capacity = std::move(call->capacity)},
                                                   service_.price)};
    }
    auto put = co_await steadily(*job_.context, [&] {
      return job_.services.ingest->put_vectors(job_.held(), generation_.id, sent, settled);
    });
    if (!put) {
      // The money is spent whoever may keep the vectors.
      if (settled) co_await end_paid_call(job_, settled->call, std::move(settled->end));
      if (put.error().sqlstate == "MR045") {
        co_return Outcome::retry("vectors_mismatch", put.error().message);
      }
      co_return fail(put.error());
    }
    stored_ = true;
    generation_.embeds_done += static_cast<int>(batch.chunks());
    after_ = waiting[batch.chunks() - 1].ord;
    if (!generation_.dimension) {
      generation_.dimension = static_cast<int>(answer->vectors.front().size());
    }
    tokens_ += usage.total();
    if (call) cost_micros_ += provider::cost_of(usage, service_.price);
    co_return std::optional<Outcome>();
  }

  // Of a batch that cannot be made smaller: the error says which text it is about.
  static provider::CallFailure refusal(const store::PendingChunk& chunk,
                                       provider::CallFailure failure) {
    failure.kind = provider::CallFailure::Kind::permanent;
    failure.message = fmt::format("{}: {}", chunk_name(chunk), failure.message);
    return failure;
  }

  // The same batch has the same id when it is asked for again.
  Uuid batch_id(const EmbedBatch& batch, const std::vector<store::PendingChunk>& waiting) const {
    auto name = "batch:" + generation_.id.to_string();
    for (std::size_t i = 0; i < batch.chunks(); ++i) name += waiting[i].id.to_string();
    return chunk::name_id(name);
  }

  // Room at the provider's limits, then the intent on record; a smaller batch where there is less.
  Task<std::variant<Permit, Outcome>> permit_for(const std::vector<store::PendingChunk>& waiting) {
    using Answer = std::variant<Permit, Outcome>;
    Permit permit;
    permit.batch = co_await planned(waiting, budget_);
    if (auto wrong = provider::check_embed_request(provider_, permit.batch.texts)) {
      const auto failure = refusal(waiting.front(), *std::move(wrong));
      co_return Answer(failed_call(failure, provider_.name(), nullptr));
    }
    if (!provider_.paid()) co_return Answer(std::move(permit));
    const auto fewer = [&](std::uint64_t left) -> awaitable<std::optional<PaidCall>> {
      if (left < provider_.count_tokens(permit.batch.texts.front())) co_return std::nullopt;
      auto budget = budget_;
      budget.tokens_total_max = left;
      permit.batch = co_await planned(waiting, budget);
      co_return call_for(permit);
    };
    // The claim took one request; tokens are taken here, for the first call as for all others.
    auto call = co_await begin_paid_call(
        job_, call_for(permit), {.first = calls_ == 0, .claimed_tokens = false, .fewer = fewer});
    if (!call) co_return Answer(std::move(call).error());
    permit.call = *std::move(call);
    co_return Answer(std::move(permit));
  }

  PaidCall call_for(const Permit& permit) const {
    std::string all;
    for (const auto& text : permit.batch.texts) all += sha256_hex(text);
    return {.provider = std::string(provider_.name()),
            .model = provider_.info().model,
            .request_sha256 = sha256_hex(all),
            .estimated_tokens = permit.batch.tokens,
            .reserved_micros = provider::cost_of(permit.estimate(), service_.price)};
  }

  awaitable<EmbedBatch> planned(const std::vector<store::PendingChunk>& waiting,
                                const EmbedBudget& budget) {
    co_return co_await blob::on_disk(job_.services.threads,
                                     [&] { return plan_batch(waiting, provider_, budget); });
  }

  StageJob& job_;
  EmbeddingService service_;
  provider::EmbeddingProvider& provider_;
  store::Generation generation_;
  EmbedBudget budget_;
  int after_ = -1;  // Chunks up to this one have been looked at.
  bool stored_ = false;
  int calls_ = 0;
  int taken_over_ = 0;
  std::uint64_t tokens_ = 0;
  std::int64_t cost_micros_ = 0;
};

// Batch by batch, each a short transaction: what is left for the settlement is the switch, whatever
// the size of the document. A delivery that died left some in place, and this one goes on. An
// outcome: it does not come to the end either.
Task<std::optional<Outcome>> place_all(StageJob& job, store::Generation& generation) {
  const int total = generation.chunks_total.value_or(0);
  for (;;) {
    MR_CO_TRY(const auto count, co_await steadily(*job.context, [&] {
                return job.services.ingest->place_chunks(job.held(), generation.id);
              }));
    if (count == 0) co_return std::optional<Outcome>();
    generation.placed += count;
    job.context->progress(total == 0 ? 0 : std::min(99, 99 * generation.placed / total),
                          fmt::format("{} of {} chunks in place", generation.placed, total),
                          to_json(generation.progress()));
    if (job.context->cancelled())
      co_return fail(ErrorKind::cancelled, job.context->cancel_reason());
    if (is_half_over(*job.context)) co_return std::optional(another_turn());
  }
}

}  // namespace

Task<Outcome> run_embed(StageJob job) {
  auto service = co_await embedding_of(job);
  if (!service) co_return std::move(service).error();
  MR_CO_TRY(auto generation, co_await steadily(*job.context, [&] {
              return job.services.ingest->find_generation(job.id());
            }));
  if (!generation) {
    co_return Outcome::permanent("no_chunks", "there are no chunks of the document");
  }
  if (!generation->building()) co_return settled_stage(job, {});
  const auto& model = service->provider->info();
  if (model.model != generation->model || model.version != generation->version) {
    // Another worker, or this one before it was configured anew, cut the text for its own model.
    const auto why =
        fmt::format("the chunks are cut for {} {}, this worker has {} {}", generation->model,
                    generation->version, model.model, model.version);
    if (generation->turned_away >= kTurnedAwayMax) {
      co_return Outcome::permanent(
          "model_changed", why + "; retry the document: it is cut anew for the model of today");
    }
    co_return Outcome::not_asked(Outcome::Kind::throttled, "other_model", why, kElsewhere);
  }
  Embedding embedding(job, *service, *std::move(generation));
  co_return co_await embedding.run();
}

Task<Outcome> run_publish(StageJob job) {
  MR_CO_TRY(auto generation, co_await steadily(*job.context, [&] {
              return job.services.ingest->find_generation(job.id());
            }));
  if (!generation) {
    co_return Outcome::permanent("no_chunks", "there are no chunks of the document");
  }
  if (generation->building()) {
    if (generation->chunks_total != generation->embeds_done) {
      co_return Outcome::permanent(
          "generation_not_whole",
          fmt::format("{} of {} chunks have vectors", generation->embeds_done,
                      generation->chunks_total.value_or(0)));
    }
    MR_CO_TRY(auto ended, co_await place_all(job, *generation));
    if (ended) co_return *std::move(ended);
    job.context->in_settlement({store::publish_generation_statement(job.id(), generation->id)});
  }
  json::Object summary;
  summary["generation_id"] = generation->id.to_string();
  json::Object item;
  item["summary"] = std::move(summary);
  co_return settled_stage(job, std::move(item));
}

}  // namespace millrace::pipeline
