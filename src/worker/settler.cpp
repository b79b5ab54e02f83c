#include "worker/settler.h"

#include "base/assert.h"
#include "base/fault.h"
#include "worker/backoff.h"
#include "worker/pause.h"

#include <unordered_set>
#include <utility>

namespace millrace::worker {

namespace {

using namespace std::chrono_literals;

constexpr auto kPauseMin = 50ms;
constexpr auto kPauseMax = 2s;  // Work goes on within seconds after the database has come back.

// What is stored instead of an outcome that the database refused.
Outcome replacement(const Error& error) {
  if (error.kind == ErrorKind::invalid_argument) {
    return Outcome::permanent("outcome_refused", error.describe());
  }
  return Outcome::retry("settlement_failed", error.describe());
}

// A missing grant or function is no fault of the outcome: an operator will put it right.
bool installation_broken(const Error& error) {
  for (const auto* group : {"42", "28", "3D", "3F"}) {
    if (error.sqlstate.starts_with(group)) return true;
  }
  return false;
}

}  // namespace

bool should_repeat(const Error& error) {
  switch (error.kind) {
    case ErrorKind::unavailable:
    case ErrorKind::in_doubt:
    case ErrorKind::throttled:
    case ErrorKind::cancelled:
      return true;
    case ErrorKind::invalid_argument:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::lease_lost:
    case ErrorKind::internal:
      return false;
  }
  return false;
}

Settler::Settler(store::JobStore& store, Clock& clock, Random& random, Logger& log)
    : store_(store), clock_(clock), random_(random), log_(log) {}

awaitable<Answer> Settler::settle(std::string worker_id, Settlement settlement) {
  if (abandoned_.is_set()) co_return Answer::lease_lost;
  auto item = std::make_shared<Item>();
  item->worker_id = std::move(worker_id);
  item->settlement = std::move(settlement);
  queue_.push_back(item);
  arrived_.set();
  co_await item->done.wait();
  co_return item->answer;
}

awaitable<Answer> Settler::settle_with(std::string worker_id, Settlement settlement,
                                       std::vector<SqlStatement> statements) {
  Backoff backoff(random_, kPauseMin, kPauseMax);
  while (!abandoned_.is_set()) {
    auto answer = co_await store_.settle_with(worker_id, settlement, statements);
    if (answer.has_value()) co_return *answer;
    const auto& error = answer.error();
    MR_SOMETIMES(error.kind == ErrorKind::in_doubt, "effects_repeated_in_doubt");
    if (error.kind == ErrorKind::lease_lost) co_return Answer::lease_lost;
    if (!should_repeat(error)) {
      // Nothing was committed. Without its statements the outcome would be half of the truth.
      log_.warn("settlement_statement_failed",
                {{"job_id", settlement.id}, {"error", error.describe()}});
      settlement.outcome = Outcome::retry("settlement_statement_failed", error.describe());
      co_return co_await settle(std::move(worker_id), std::move(settlement));
    }
    co_await pause(error, backoff.next());
  }
  co_return Answer::lease_lost;
}

void Settler::stop() {
  stopping_ = true;
  arrived_.set();
}

void Settler::abandon() {
  abandoned_.set();
  stop();
  for (const auto& item : sending_) {
    if (!item->done.is_set()) answer(*item, Answer::lease_lost);
  }
  for (const auto& item : std::exchange(queue_, {})) answer(*item, Answer::lease_lost);
}

awaitable<void> Settler::run() {
  for (;;) {
    if (!queue_.empty()) {
      sending_ = next_batch();
      co_await send(sending_);
      sending_.clear();
      continue;
    }
    if (stopping_) co_return;
    arrived_.reset();
    co_await arrived_.wait();
  }
}

// One worker id per call, and never two deliveries of one job: answers are told apart by job.
Settler::Batch Settler::next_batch() {
  Batch batch;
  std::deque<std::shared_ptr<Item>> left;
  std::unordered_set<JobId> jobs;
  std::size_t bytes = 0;
  const auto worker_id = queue_.front()->worker_id;
  for (auto& item : queue_) {
    const bool full = batch.size() >= kBatchMax || (!batch.empty() && bytes >= kBatchBytesMax);
    if (full || item->worker_id != worker_id || !jobs.insert(item->settlement.id).second) {
      left.push_back(std::move(item));
      continue;
    }
    bytes += item->settlement.size_bytes();
    batch.push_back(std::move(item));
  }
  queue_ = std::move(left);
  return batch;
}

Task<std::vector<JobAnswer>> Settler::send_once(Batch batch) {
  std::vector<Settlement> settlements;
  settlements.reserve(batch.size());
  for (const auto& item : batch) settlements.push_back(item->settlement);
  return store_.settle(batch.front()->worker_id, std::move(settlements));
}

awaitable<void> Settler::send(Batch batch) {
  Backoff backoff(random_, kPauseMin, kPauseMax);
  for (;;) {
    if (abandoned_.is_set()) co_return;  // All were answered there.
    const auto answers = co_await send_once(batch);
    if (answers.has_value()) {
      MR_ASSERT(answers->size() == batch.size());
      for (std::size_t i = 0; i < batch.size(); ++i) answer(*batch[i], (*answers)[i].answer);
      co_return;
    }
    const auto& error = answers.error();
    MR_SOMETIMES(error.kind == ErrorKind::in_doubt, "settlement_repeated_in_doubt");
    if (should_repeat(error) || installation_broken(error)) {
      co_await pause(error, backoff.next());
      continue;
    }
    if (error.kind == ErrorKind::lease_lost) {
      for (const auto& item : batch) answer(*item, Answer::lease_lost);
      co_return;
    }
    if (batch.size() == 1) {
      refuse(batch.front(), error);
      co_return;
    }
    // One of them cannot be stored, and fails all. Nothing of the batch was committed.
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    co_await send(Batch(batch.begin(), middle));
    co_await send(Batch(middle, batch.end()));
    co_return;
  }
}

void Settler::refuse(const std::shared_ptr<Item>& item, const Error& error) {
  if (item->replaced) {
    log_.error("settlement_given_up",
               {{"job_id", item->settlement.id}, {"error", error.describe()}});
    answer(*item, Answer::lease_lost);
    return;
  }
  log_.warn("outcome_refused", {{"job_id", item->settlement.id},
                                {"outcome", to_string(item->settlement.outcome.kind)},
                                {"error", error.describe()}});
  item->replaced = true;
  item->settlement.outcome = replacement(error);
  item->settlement.logs.clear();  // They may be what could not be stored.
  if (!abandoned_.is_set()) queue_.push_back(item);
}

awaitable<void> Settler::pause(Error error, std::chrono::milliseconds duration) {
  log_.warn("settlement_delayed", {{"error", error.describe()}, {"retry_in", duration}});
  co_await wait_for(clock_, abandoned_, duration);
}

void Settler::answer(Item& item, Answer value) {
  item.answer = value;
  item.done.set();
}

}  // namespace millrace::worker
