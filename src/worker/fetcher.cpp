#include "worker/fetcher.h"

#include "base/either.h"
#include "base/fault.h"
#include "worker/pause.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace millrace::worker {

namespace {

using namespace either;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int kClaimMax = 10'000;
constexpr std::size_t kMarksMax = 256;
constexpr int kListeningPolls = 5;
constexpr milliseconds kGather{
    20};  // Between two questions about a queue that is full most of the time.
constexpr auto kPollFirst = 20ms;  // Without notifications an empty queue is asked soon, then less.
constexpr milliseconds kListenCheck = 5s;
constexpr auto kAlonePauseMax = 5min;
constexpr auto kUnknownQueuePause = 10s;
constexpr milliseconds kLookAgain = 1s;  // For a claim that was not there when first looked for.

// Takes "type:tenant:priority:ready_seq" as group and place. Neighbours mostly are of one group,
// which is looked up once.
class MarkReader {
 public:
  explicit MarkReader(store::Marks& marks) : marks_(marks), last_(marks.end()) {}

  void add(std::string_view mark) {
    const auto colon = mark.rfind(':');
    if (colon == std::string_view::npos) return;
    std::int64_t place = 0;
    const auto* end = mark.data() + mark.size();
    if (std::from_chars(mark.data() + colon + 1, end, place).ptr != end) return;
    const auto group = mark.substr(0, colon);
    if (last_ == marks_.end() || last_->first != group) {
      last_ = marks_.try_emplace(std::string(group)).first;
    }
    last_->second = std::max(last_->second, place);
  }

 private:
  store::Marks& marks_;
  store::Marks::iterator last_;
};

}  // namespace

Fetcher::Fetcher(Services services, const Options& options, std::vector<std::string> job_types,
                 ProcessLease& lease, Dispatcher& dispatcher)
    : services_(services),
      options_(options),
      job_types_(std::move(job_types)),
      lease_(lease),
      dispatcher_(dispatcher),
      backoff_(services.random, 50ms, 2s) {
  for (const auto& choice : options.queues) {
    Queue queue;
    queue.name = choice.name;
    queue.weight = std::max(1, choice.weight);
    queues_.push_back(std::move(queue));
  }
}

void Fetcher::stop() {
  stopping_.set();
  wake_.set();
}

void Fetcher::wake() {
  for (auto& queue : queues_) {
    queue.ask_at = queue.gathers ? queue.asked_at + kGather : Clock::Steady{};
    queue.empty_in_a_row = 0;
    queue.rescan = true;
  }
  wake_.set();
}

void Fetcher::set_limited(const std::optional<std::vector<std::string>>& queues) {
  for (auto& one : queues_) {
    one.limited = !queues || std::ranges::find(*queues, one.name) != queues->end();
    one.gathers = queues && one.limited;
  }
}

// The notification of the same may have been given before the room was there for others to see, or
// be on its way; without a listener there is none.
void Fetcher::note_ended(const std::string& queue) {
  for (auto& one : queues_) {
    if (!one.limited || one.empty_in_a_row == 0 || one.name != queue) continue;
    one.ask_at = {};
    one.empty_in_a_row = 1;
    one.rescan = true;
    wake_.set();
  }
}

void Fetcher::forget_marks() {
  unheld_ = false;
  repair_at_ = Clock::Steady::max();
  wake();
}

// All processes hear of a suspect at about the same time, and one of them is enough.
void Fetcher::set_suspects(int count) {
  if (suspects_ == 0 && count > 0) {
    const auto spread = std::max(1ms, lease_.beat_interval());
    alone_at_ = services_.clock.now() +
                std::max(alone_pause_, milliseconds(services_.random.between(0, spread.count())));
  }
  suspects_ = count;
  if (alone_due()) wake_.set();
}

// To be asked before every claim: while one was under way the lease may have been lost.
bool Fetcher::may_claim() const { return !stopping_.is_set() && lease_.key().has_value(); }

bool Fetcher::alone_due() const { return suspects_ > 0 && services_.clock.now() >= alone_at_; }

awaitable<void> Fetcher::listen() {
  Backoff backoff(services_.random, 200ms, 10s);
  while (services_.wake != nullptr && !stopping_.is_set()) {
    // The first wait only connects: from then on polling can be rare.
    auto waited =
        co_await (services_.wake->wait(listening_ ? kListenCheck : 0ms) || stopping_.wait());
    auto* hint = std::get_if<0>(&waited);
    if (hint == nullptr) co_return;
    if (!hint->has_value()) {
      listening_ = false;
      if (hint->error().kind == ErrorKind::invalid_argument) {
        services_.log.info("polling_only", {{"why", hint->error().describe()}});
        co_return;
      }
      services_.log.debug("wake_source_failed", {{"error", hint->error().describe()}});
      co_await wait_for(services_.clock, stopping_, backoff.next());
      continue;
    }
    backoff.reset();
    if (!std::exchange(listening_, true) || **hint) {
      wake();
      if (options_.on_hint) options_.on_hint();
    }
  }
}

awaitable<void> Fetcher::run() {
  while (!stopping_.is_set()) {
    if (!lease_.key()) {
      co_await (lease_.registered().wait() || stopping_.wait());
      continue;
    }
    if (repair_due()) {
      co_await repair();
      continue;  // The lease may have been lost meanwhile.
    }
    if (alone_due()) {
      co_await alone_session();
      continue;
    }
    const int want = dispatcher_.claimable();
    if (want == 0 || askable().empty()) {
      co_await wait_for_use();
      continue;
    }
    co_await claim_round(want);
  }
  ended_.set();
}

std::vector<Fetcher::Queue*> Fetcher::askable() {
  std::vector<Queue*> result;
  const auto now = services_.clock.now();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    auto& queue = queues_[(first_ + i) % queues_.size()];
    if (queue.ask_at <= now) result.push_back(&queue);
  }
  return result;
}

// Until a slot is free, a queue is due, a notification came or a suspect waits.
awaitable<void> Fetcher::wait_for_use() {
  auto changed = dispatcher_.changed();
  changed.reset();
  wake_.reset();
  auto until = services_.clock.now() + 1min;
  if (dispatcher_.claimable() > 0) {
    for (const auto& queue : queues_) until = std::min(until, queue.ask_at);
  }
  if (suspects_ > 0) until = std::min(until, alone_at_);
  until = std::min(until, repair_at_);
  const auto left = until - services_.clock.now();
  if (left <= 0ms || stopping_.is_set()) co_return;
  co_await (changed.wait() || wake_.wait() || services_.clock.sleep_for(left));
}

// Each queue that may have work is offered its share; what one leaves goes to those that took all.
awaitable<void> Fetcher::claim_round(int want) {
  auto queues = askable();
  const auto begin = services_.clock.now();
  ++first_;
  while (want > 0 && !queues.empty() && may_claim()) {
    int weights = 0;
    for (const auto* queue : queues) weights += queue->weight;
    const int round = want;
    std::vector<Queue*> hungry;
    for (auto* queue : queues) {
      const int share = std::min(want, std::max(1, round * queue->weight / weights));
      if (share == 0 || !may_claim()) break;
      auto got = co_await claim(queue, share);
      if (!got.has_value()) {
        co_await note_error(queue, std::move(got).error());
        co_return;
      }
      backoff_.reset();
      want -= *got;
      if (*got == share) hungry.push_back(queue);
    }
    queues = std::move(hungry);
  }
  dispatcher_.note_claimed(want <= 0, services_.clock.now() - begin);
}

Task<int> Fetcher::claim(Queue* queue, int limit) {
  const auto key = *lease_.key();
  limit = std::min(limit, kClaimMax);
  const auto asked_at = services_.clock.now();
  queue->asked_at = asked_at;
  const bool rescan = queue->rescan || queue->marks.empty() ||
                      asked_at - queue->rescanned_at >= options_.rescan_interval;
  store::ClaimRequest request{.worker = key,
                              .queue = queue->name,
                              .limit = limit,
                              .job_types = job_types_,
                              .marks = std::nullopt,
                              .alone = false};
  if (rescan) {
    queue->rescanned_at = asked_at;
    queue->rescan = false;  // Unless a wake-up comes while the claim is under way.
  } else {
    request.marks = queue->marks;
  }
  MR_CO_TRY(auto jobs, co_await services_.store.claim_jobs(std::move(request)));
  const int got = static_cast<int>(jobs.size());
  MR_ALWAYS(got <= limit, "claim_within_limit");
  note_marks(*queue, limit, jobs);
  // A full scan that found fewer than it asked for has asked for a notification, as an empty one
  // has.
  if (got > 0) {
    const bool dry = rescan && got < limit;
    queue->empty_in_a_row = dry ? 1 : 0;
    if (dry && queue->gathers) queue->ask_at = asked_at + kGather;
  }
  // With marks an empty answer says nothing about what lies before them.
  if (got == 0 && rescan && !queue->rescan) note_empty(*queue);
  if (got < limit) queue->rescan = true;
  hand_over(std::move(jobs), key, asked_at);
  co_return got;
}

Task<int> Fetcher::claim_alone(Queue* queue) {
  const auto key = *lease_.key();
  const auto asked_at = services_.clock.now();
  MR_CO_TRY(auto jobs, co_await services_.store.claim_jobs({.worker = key,
                                                            .queue = queue->name,
                                                            .limit = 1,
                                                            .job_types = job_types_,
                                                            .marks = std::nullopt,
                                                            .alone = true}));
  const int got = static_cast<int>(jobs.size());
  hand_over(std::move(jobs), key, asked_at);
  co_return got;
}

void Fetcher::hand_over(std::vector<ClaimedJob> jobs, const store::WorkerKey& key,
                        Clock::Steady asked_at) {
  const auto& current = lease_.key();
  if (!lease_.held() || current->process != key.process || stopping_.is_set()) {
    dispatcher_.return_unused(std::move(jobs), key);
  } else {
    dispatcher_.accept(std::move(jobs), key, asked_at);
  }
}

void Fetcher::note_marks(Queue& queue, int limit, const std::vector<ClaimedJob>& jobs) {
  MarkReader reader(queue.marks);
  for (const auto& job : jobs) reader.add(job.mark);
  if (static_cast<int>(jobs.size()) < limit || queue.marks.size() > kMarksMax) queue.marks.clear();
}

// Asked again at once the first time: the answer armed the notification.
void Fetcher::note_empty(Queue& queue) {
  const int empty = queue.empty_in_a_row++;
  auto wait = queue.gathers ? kGather : 0ms;
  if (empty > 0) {
    // Where notifications arrive, polling is only the guarantee.
    const auto first = listening_ ? options_.poll_interval : milliseconds(kPollFirst);
    const auto most = options_.poll_interval * (listening_ ? kListeningPolls : 1);
    wait = std::min(first * (1 << std::min(empty - 1, 16)), most);
  }
  queue.ask_at = services_.clock.now() + services_.random.jitter(wait, 0.2);
}

awaitable<void> Fetcher::note_error(Queue* queue, Error error) {
  services_.log.warn("claim_failed", {{"queue", queue->name}, {"error", error.describe()}});
  queue->rescan = true;
  if (error.kind == ErrorKind::not_found) {  // The queue: the others need not wait for it.
    queue->ask_at = services_.clock.now() + kUnknownQueuePause;
    co_return;
  }
  MR_SOMETIMES(error.kind == ErrorKind::in_doubt, "claim_answer_lost");
  if (error.kind == ErrorKind::in_doubt) unheld_ = true;
  if (error.kind == ErrorKind::lease_lost) lease_.doubt();
  co_await pause(backoff_.next());
}

bool Fetcher::repair_due() const { return unheld_ || services_.clock.now() >= repair_at_; }

// A claim that nobody answered may be done at any later time, and nothing would ever end its leases
// but their own deadline: so what this process does not hold goes back again and again. It goes
// back by its tokens, as any settlement: the question may be answered late, but no claim of ours is
// under way while we wait, so whatever the answer names beyond what we hold is nobody's.
awaitable<void> Fetcher::repair() {
  const auto key = *lease_.key();
  auto unheld = co_await services_.store.unheld_leases(key, dispatcher_.held_tokens());
  if (unheld.has_value()) {
    MR_SOMETIMES(!unheld->empty(), "unheld_leases_found");
    // The claim may be under way still: it is looked for once more, soon.
    const bool just_lost = std::exchange(unheld_, false);
    repair_at_ = services_.clock.now() +
                 (just_lost ? std::min<milliseconds>(kLookAgain, options_.lease) : options_.lease);
    backoff_.reset();
    if (!unheld->empty()) {
      services_.log.info("unheld_leases_returned", {{"jobs", unheld->size()}});
      dispatcher_.return_unheld(*unheld, key);
    }
    co_return;
  }
  services_.log.warn("unheld_leases_not_known", {{"error", unheld.error().describe()}});
  if (unheld.error().kind == ErrorKind::lease_lost) lease_.doubt();
  co_await pause(backoff_.next());
}

// Lets what runs finish, then takes suspects one at a time, for a while.
awaitable<void> Fetcher::alone_session() {
  int ran = 0;
  if (co_await wait_until_idle()) ran = co_await run_suspects();
  // Suspects that no queue or handler of ours is for must not stop us again and again.
  alone_pause_ = ran > 0 ? 0ms : std::clamp<milliseconds>(alone_pause_ * 2, 10s, kAlonePauseMax);
  suspects_ = 0;  // The next beat says whether there are more.
  services_.log.info("suspects_run_alone", {{"jobs", ran}});
}

awaitable<int> Fetcher::run_suspects() {
  int ran = 0;
  const auto end = services_.clock.now() + options_.alone_session_max;
  for (bool found = true; found && services_.clock.now() < end;) {
    found = false;
    for (auto& queue : queues_) {
      if (!may_claim()) co_return ran;
      auto got = co_await claim_alone(&queue);
      if (!got.has_value()) {
        co_await note_error(&queue, std::move(got).error());
        co_return ran;
      }
      if (*got == 0) continue;
      found = true;
      ++ran;
      if (!co_await wait_until_idle()) co_return ran;
    }
  }
  co_return ran;
}

// False when that cannot be: stopping, or a handler does not end.
awaitable<bool> Fetcher::wait_until_idle() {
  auto changed = dispatcher_.changed();
  while (!dispatcher_.idle()) {
    if (stopping_.is_set() || dispatcher_.stuck() > 0) co_return false;
    changed.reset();
    co_await (changed.wait() || stopping_.wait());
  }
  co_return !stopping_.is_set();
}

awaitable<void> Fetcher::pause(milliseconds duration) {
  co_await wait_for(services_.clock, stopping_, duration);
}

}  // namespace millrace::worker
