#include "api/routes/remote_claim.h"

#include "identity/digest.h"
#include "model/job_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace millrace::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One long poll, by value: what its calls of the database need.
struct Poll {
  RemotePartsPtr parts;
  store::CallContext context;
  store::RemoteWorker worker;
  std::vector<std::string> queues;
  std::vector<std::string> job_types;
  int credit = 1;
  std::size_t held = 0;
};

Poll poll_of(const Call& call, RemotePartsPtr parts) {
  return {.parts = std::move(parts),
          .context = call.context(),
          .worker = worker_of(call),
          .queues = text_list(call.member("queues")),
          .job_types = text_list(call.member("job_types")),
          .credit = static_cast<int>(call.integer("credit").value_or(1)),
          .held = call.member("held")->as_array().size()};
}

// Whoever has the same tenant, queues and types is served from the same jobs.
std::string group_of(const Poll& poll) {
  auto out = poll.context.tenant ? poll.context.tenant->to_string() : std::string("-");
  auto types = poll.job_types;
  std::ranges::sort(types);
  for (const auto& queue : poll.queues) out += fmt::format(" {}", json_quote(queue));
  out += " :";
  for (const auto& type : types) out += fmt::format(" {}", json_quote(type));
  return out;
}

std::size_t bytes_of(const ClaimedJob& job) {
  return job.payload_json.size() + (job.carry_json ? job.carry_json->size() : 0) + 1024;
}

// How many more fit for certain into an answer that has so many bytes, whatever is in them.
int room_for(std::size_t bytes, std::size_t jobs, int credit) {
  const auto fit = (kClaimMaxBytes - std::min(bytes, kClaimMaxBytes)) / kClaimedJobMaxBytes;
  return std::min(credit - static_cast<int>(jobs), static_cast<int>(fit));
}

// Queue by queue in the order of the request, until the credit or the room in the answer is used.
// In pieces that fit in any case: nothing has to go back for its size.
Task<std::vector<ClaimedJob>> ask(Poll poll) {
  std::vector<ClaimedJob> jobs;
  std::size_t bytes = 0;
  std::size_t queue = 0;
  while (queue < poll.queues.size()) {
    const int piece = room_for(bytes, jobs.size(), poll.credit);
    if (piece <= 0) break;
    auto more = co_await poll.parts->store.claim_jobs(
        poll.context, poll.worker,
        {.queue = poll.queues[queue], .limit = piece, .job_types = poll.job_types});
    if (!more) {
      // What there is already must not be lost over a queue that cannot be asked.
      if (!jobs.empty()) break;
      co_return fail(std::move(more).error());
    }
    if (static_cast<int>(more->size()) < piece) ++queue;  // It has no more for now.
    for (auto& job : *more) {
      bytes += bytes_of(job);
      jobs.push_back(std::move(job));
    }
  }
  co_return jobs;
}

Task<store::BeatAnswer> beat(Poll poll) {
  MR_CO_TRY(auto answer, co_await poll.parts->store.beat_worker(
                             poll.context, poll.worker,
                             {.running = static_cast<int>(poll.held), .draining = false}));
  if (!answer.alive) co_return not_registered(poll.worker);
  co_return answer;
}

Task<void> beat_on(Poll poll) {
  MR_CO_TRY_VOID(co_await beat(std::move(poll)));
  co_return ok();
}

// Back to their place, free of charge. What cannot be returned now is found by the next claim.
Task<void> hand_back(Poll poll, std::vector<store::HeldLease> leases) {
  if (leases.empty()) co_return ok();
  std::string settlements = "[";
  for (const auto& lease : leases) {
    if (settlements.size() > 1) settlements += ',';
    settlements += fmt::format(R"({{"job_id":"{}","token":"{}","outcome":"handback"}})", lease.id,
                               lease.token);
  }
  MR_CO_TRY_VOID(
      co_await poll.parts->store.settle_jobs(poll.context, poll.worker, settlements + "]"));
  co_return ok();
}

// Jobs of answers that never arrived: the worker does not know that it has them.
Task<void> return_lost(Poll poll, std::vector<LeaseToken> known) {
  MR_CO_TRY(auto lost,
            co_await poll.parts->store.unheld_leases(poll.context, poll.worker, std::move(known)));
  if (lost.empty()) co_return ok();
  poll.parts->log.info("claims_returned", {{"worker_id", poll.worker.key.worker_id},
                                           {"jobs", lost.size()},
                                           {"why", "the answer was lost"}});
  co_return co_await hand_back(std::move(poll), std::move(lost));
}

std::vector<LeaseToken> held_tokens(const Call& call) {
  std::vector<LeaseToken> out;
  for (const auto& token : call.member("held")->as_array()) {
    out.push_back(*LeaseToken::parse(token.as_string()));
  }
  return out;
}

}  // namespace

Task<ClaimedForRemote> claim_for(Call& call, RemotePartsPtr parts) {
  const auto poll = poll_of(call, parts);
  const auto cancel = call.request.cancel_token();
  const seconds wait(call.integer("wait_seconds").value_or(20));
  MR_CO_TRY(auto alive, co_await beat(poll));
  MR_CO_TRY_VOID(co_await return_lost(poll, held_tokens(call)));
  MR_CO_TRY(auto jobs,
            co_await parts->line.claim(
                {.group = group_of(poll),
                 .until = parts->clock.now() + wait,
                 .cancel = cancel,
                 .beat_every = std::max(milliseconds(100), alive.lease / 3)},
                {.ask = [&poll] { return ask(poll); }, .beat = [&poll] { return beat_on(poll); }}));
  if (cancel.cancelled() && !jobs.empty()) {
    // Nobody is there to take them.
    std::vector<store::HeldLease> leases;
    for (const auto& job : jobs) leases.push_back({.id = job.id, .token = job.token});
    const auto returned = co_await hand_back(poll, std::move(leases));
    if (!returned) {
      parts->log.warn("claims_not_returned", {{"worker_id", poll.worker.key.worker_id},
                                              {"error", returned.error().message}});
    }
    jobs.clear();
  }
  co_return ClaimedForRemote{.jobs = std::move(jobs), .cancel = std::move(alive.cancel)};
}

std::vector<std::string> text_list(const json::Value* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const auto& text : list->as_array()) out.emplace_back(text.as_string());
  return out;
}

std::string claimed_json(const ClaimedJob& job) {
  auto text = job_json(job);
  text.insert(1, fmt::format(R"("token":"{}","idempotency_key":{},)", job.token,
                             json_quote(idempotency_key(job))));
  return text;
}

store::RemoteWorker worker_of(const Call& call) {
  return {.key = {.worker_id = call.text("worker_id").value_or(""),
                  .process = *Uuid::parse(call.text("process").value_or(""))},
          .token_id = credentials_id(call.caller)};
}

Uuid credentials_id(const identity::Caller& caller) {
  if (const auto id = Uuid::parse(caller.token_id)) return *id;
  const auto digest = identity::sha256(fmt::format(
      "remote worker\n{}\n{}\n{}\n{}", identity::to_string(caller.role),
      caller.tenant ? caller.tenant->to_string() : "-", caller.subject, caller.token_id));
  Uuid id;
  std::ranges::copy(std::span(digest).first(id.bytes.size()), id.bytes.begin());
  return id;
}

std::unexpected<Error> not_registered(const store::RemoteWorker& worker) {
  return fail(Error{.kind = ErrorKind::lease_lost,
                    .message = fmt::format("worker {} is not registered", worker.key.worker_id),
                    .sqlstate = "MR023"});
}

}  // namespace millrace::api
