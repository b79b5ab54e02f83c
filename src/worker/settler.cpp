#include "worker/settler.h"

#include "base/assert.h"
#include "base/fault.h"
#include "worker/backoff.h"
#include "worker/job_run.h"
#include "worker/pause.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <memory_resource>
#include <unordered_set>
#include <utility>

namespace millrace::worker {

namespace {

using namespace std::chrono_literals;

constexpr auto kGatherMax = 3ms;
constexpr std::size_t kKeptMax = 512;  // Places for results while there are none.
constexpr int kGatherTurns = 40;       // Of the executor: jobs are run in bursts, each in a turn.
constexpr auto kPauseMin = 50ms;
constexpr auto kStalePause = 60s;
constexpr auto kPauseMax = 2s;  // Work goes on within seconds after the database has come back.

// A call that is being repeated, counted once while it lasts.
class Repeating {
 public:
  explicit Repeating(std::size_t& count) : count_(count) {}
  ~Repeating() { end(); }
  Repeating(const Repeating&) = delete;
  Repeating& operator=(const Repeating&) = delete;

  void begin() {
    if (!std::exchange(counted_, true)) ++count_;
  }
  void end() {
    if (std::exchange(counted_, false)) --count_;
  }

 private:
  std::size_t& count_;
  bool counted_ = false;
};

// What is stored instead of an outcome that the database refused.
Outcome replacement(const Error& error) {
  if (error.kind == ErrorKind::invalid_argument) {
    return Outcome::permanent("outcome_refused", error.describe());
  }
  return Outcome::retry("settlement_failed", error.describe());
}

// Content that a statement refers to may have been removed meanwhile (MR037): the same statement
// will never do, but the job, done again, stores it again. For some minutes that may not help yet.
bool is_stale(const Error& error) { return error.sqlstate == "MR037"; }

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

Settler::Settler(store::JobStore& store, Clock& clock, Random& random, Logger& log,
                 OnAnswers on_answers)
    : store_(store),
      clock_(clock),
      random_(random),
      log_(log),
      on_answers_(std::move(on_answers)) {}

void Settler::enqueue(Item item) {
  if (abandoned_.is_set()) {
    answer_all({&item, 1}, Answer::lease_lost);
    return;
  }
  if (queue_.empty()) arrived_.set();
  queue_.push_back(std::move(item));
}

void Settler::offer(std::shared_ptr<JobRun> run, Settlement settlement) {
  auto worker_id = run->worker;
  enqueue({.worker_id = std::move(worker_id),
           .settlement = std::move(settlement),
           .run = std::move(run),
           .waiter = nullptr});
}

awaitable<Answer> Settler::settle(std::string worker_id, Settlement settlement) {
  auto waiter = std::make_shared<Waiter>();
  enqueue({.worker_id = std::make_shared<const std::string>(std::move(worker_id)),
           .settlement = std::move(settlement),
           .run = nullptr,
           .waiter = waiter});
  co_await waiter->done.wait();
  co_return waiter->answer;
}

awaitable<Answer> Settler::settle_with(std::string worker_id, Settlement settlement,
                                       std::vector<SqlStatement> statements) {
  Backoff backoff(random_, kPauseMin, kPauseMax);
  Repeating repeating(failing_);
  while (!abandoned_.is_set()) {
    auto answer = co_await store_.settle_with(worker_id, settlement, statements);
    if (answer.has_value()) co_return *answer;
    const auto& error = answer.error();
    MR_SOMETIMES(error.kind == ErrorKind::in_doubt, "effects_repeated_in_doubt");
    if (error.kind == ErrorKind::lease_lost) co_return Answer::lease_lost;
    if (!should_repeat(error) || is_stale(error)) {
      // Nothing was committed. Without its statements the outcome would be half of the truth.
      log_.warn("settlement_statement_failed",
                {{"job_id", settlement.id}, {"error", error.describe()}});
      settlement.outcome = is_stale(error)
                               ? Outcome::throttled(error.describe(), kStalePause)
                               : Outcome::retry("settlement_statement_failed", error.describe());
      repeating.end();
      co_return co_await settle(std::move(worker_id), std::move(settlement));
    }
    repeating.begin();
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
  answer_all(sending_, Answer::lease_lost);
  auto queue = std::exchange(queue_, {});
  answer_all(queue, Answer::lease_lost);
}

awaitable<void> Settler::run() {
  for (;;) {
    if (!queue_.empty()) {
      co_await gather();
      if (queue_.empty()) continue;  // Given up meanwhile.
      take_batch();
      co_await send({.begin = 0, .end = sending_.size()});
      sending_.clear();
      continue;
    }
    if (stopping_) co_return;
    shrink();
    arrived_.reset();
    co_await arrived_.wait();
  }
}

// What a burst needed is not kept for ever.
void Settler::shrink() {
  if (queue_.capacity() > kKeptMax) std::vector<Item>().swap(queue_);
  if (sending_.capacity() > kKeptMax) std::vector<Item>().swap(sending_);
}

// Each call costs the server as much as many results do. Nobody is kept waiting who has finished:
// only while jobs are there that end as soon as they are run.
awaitable<void> Settler::gather() {
  const auto until = clock_.now() + kGatherMax;
  for (int turn = 0; turn < kGatherTurns && queue_.size() < kBatchMax; ++turn) {
    if (stopping_ || !more_comes_ || !more_comes_() || clock_.now() >= until) co_return;
    co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                               boost::asio::use_awaitable);
  }
}

// One worker id per call, and never two deliveries of one job: answers are told apart by job.
void Settler::take_batch() {
  std::vector<Item> left;
  std::pmr::monotonic_buffer_resource memory(queue_.size() * 64 + 1024);
  std::pmr::unordered_set<JobId> jobs(&memory);
  jobs.reserve(std::min(queue_.size(), kBatchMax));
  std::size_t bytes = 0;
  const auto worker_id = queue_.front().worker_id;
  for (auto& item : queue_) {
    const auto count = sending_.size();
    const bool full = count >= kBatchMax || (count > 0 && bytes >= kBatchBytesMax);
    const bool stranger = item.worker_id != worker_id && *item.worker_id != *worker_id;
    if (full || stranger || !jobs.insert(item.settlement.id).second) {
      left.push_back(std::move(item));
      continue;
    }
    bytes += item.settlement.size_bytes();
    sending_.push_back(std::move(item));
  }
  queue_.clear();
  if (!left.empty()) queue_ = std::move(left);
}

std::span<Settler::Item> Settler::items(Range range) {
  return std::span(sending_).subspan(range.begin, range.size());
}

Task<std::vector<JobAnswer>> Settler::send_once(Range range) {
  std::vector<Settlement> settlements;
  settlements.reserve(range.size());
  for (const auto& item : items(range)) settlements.push_back(item.settlement);
  return store_.settle(*sending_[range.begin].worker_id, std::move(settlements));
}

awaitable<void> Settler::send(Range range) {
  Backoff backoff(random_, kPauseMin, kPauseMax);
  Repeating repeating(failing_);
  for (;;) {
    if (abandoned_.is_set()) co_return;  // All were answered there.
    const auto answers = co_await send_once(range);
    if (abandoned_.is_set()) co_return;
    if (answers.has_value()) {
      MR_ASSERT(answers->size() == range.size());
      repeating.end();
      std::vector<Answered> answered;
      answered.reserve(range.size());
      for (std::size_t i = 0; i < range.size(); ++i) {
        answer(sending_[range.begin + i], (*answers)[i].answer, answered);
      }
      deliver(std::move(answered));
      co_return;
    }
    const auto& error = answers.error();
    MR_SOMETIMES(error.kind == ErrorKind::in_doubt, "settlement_repeated_in_doubt");
    if (should_repeat(error) || installation_broken(error)) {
      repeating.begin();
      co_await pause(error, backoff.next());
      continue;
    }
    repeating.end();
    if (error.kind == ErrorKind::lease_lost) {
      answer_all(items(range), Answer::lease_lost);
      co_return;
    }
    if (range.size() == 1) {
      refuse(sending_[range.begin], error);
      co_return;
    }
    // One of them cannot be stored, and fails all. Nothing of the batch was committed.
    const auto middle = range.begin + range.size() / 2;
    co_await send({.begin = range.begin, .end = middle});
    co_await send({.begin = middle, .end = range.end});
    co_return;
  }
}

void Settler::refuse(Item& item, const Error& error) {
  if (item.replaced) {
    log_.error("settlement_given_up",
               {{"job_id", item.settlement.id}, {"error", error.describe()}});
    answer_all({&item, 1}, Answer::lease_lost);
    return;
  }
  log_.warn("outcome_refused", {{"job_id", item.settlement.id},
                                {"outcome", to_string(item.settlement.outcome.kind)},
                                {"error", error.describe()}});
  item.replaced = true;
  item.settlement.outcome = replacement(error);
  item.settlement.logs.clear();  // They may be what could not be stored.
  queue_.push_back(std::move(item));
  item.answered = true;  // Not from here: abandon() finds it in the queue.
}

awaitable<void> Settler::pause(Error error, std::chrono::milliseconds duration) {
  log_.warn("settlement_delayed", {{"error", error.describe()}, {"retry_in", duration}});
  co_await wait_for(clock_, abandoned_, duration);
}

void Settler::answer(Item& item, Answer value, std::vector<Answered>& answered) {
  if (std::exchange(item.answered, true)) return;
  if (item.waiter) {
    item.waiter->answer = value;
    item.waiter->done.set();
    return;
  }
  answered.push_back(
      {.run = std::move(item.run), .outcome = item.settlement.outcome.kind, .answer = value});
}

void Settler::answer_all(std::span<Item> given, Answer value) {
  std::vector<Answered> answered;
  for (auto& item : given) answer(item, value, answered);
  deliver(std::move(answered));
}

void Settler::deliver(std::vector<Answered> answered) {
  if (!answered.empty() && on_answers_) on_answers_(answered);
}

}  // namespace millrace::worker
