// The model does what the SQL functions do: seeded random sequences of calls on both.
//
// A difference names its call; MILLRACE_SEED=n repeats one seed, MILLRACE_SEEDS=n runs more of
// them.
#include "sim/twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace millrace::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 10;
constexpr int kCalls = 300;

Policies choose_policies(Dice& dice) {
  Policies policies;
  for (const auto* name : {"first", "second"}) {
    QueuePolicy queue;
    queue.name = name;
    queue.max_attempts = static_cast<int>(dice.between(2, 8));
    queue.backoff_base = 1ms * dice.between(1, 300);
    queue.backoff_cap = queue.backoff_base * dice.between(1, 4);
    queue.jitter_low = 1;
    queue.jitter_high = 1;
    queue.reclaim_jitter = Time(0);
    queue.lease = 1s * dice.between(1, 3);
    queue.run_timeout = 1s * dice.between(1, 10);
    queue.max_age = dice.chance(0.3) ? Time(5s) : Time(1h);
    queue.max_snoozes = static_cast<int>(dice.chance(0.3) ? 2 : 100);
    if (dice.chance(0.4)) queue.concurrency_max = static_cast<int>(dice.between(1, 4));
    if (dice.chance(0.6)) queue.key_concurrency_max = static_cast<int>(dice.between(1, 2));
    queue.age_step =
        dice.chance(0.3) ? std::nullopt : std::optional<Time>(1ms * dice.between(1, 3000));
    policies.queues.push_back(queue);
  }
  LimitPolicy limit;
  if (dice.chance(0.7)) limit.requests_per_minute = static_cast<int>(dice.between(1, 6));
  if (dice.chance(0.4)) limit.requests_per_hour = static_cast<int>(dice.between(4, 12));
  if (dice.chance(0.6)) limit.concurrent_requests = static_cast<int>(dice.between(1, 3));
  limit.minute_window = 1s * dice.between(1, 3);
  limit.hour_window = 1s * dice.between(4, 8);
  limit.backpressure_delay = 1s * dice.between(1, 2);
  limit.breaker_threshold = static_cast<int>(dice.between(1, 3));
  limit.breaker_cooldown = 1ms * dice.between(100, 2000);
  policies.limits.push_back(limit);
  policies.types.push_back({.name = "model_a", .queue = 0});
  policies.types.push_back({.name = "model_b", .queue = 0, .provider = 0});
  policies.types.push_back({.name = "model_c", .queue = 1});
  return policies;
}

// One seed: many calls, each of any kind.
class Walk {
 public:
  explicit Walk(std::uint64_t seed)
      : dice_(seed * 0x9e3779b97f4a7c15ULL + 1), twin_(choose_policies(dice_)) {}

  void run(int calls) {
    for (int i = 0; i < 3; ++i) add_worker();
    for (int i = 0; i < calls; ++i) {
      twin_.pass(dice_.chance(0.1) ? 1ms * dice_.between(500, 3000) : 1ms * dice_.between(1, 200));
      call();
      twin_.compare();
    }
  }

 private:
  void add_worker() {
    const auto lease = dice_.chance(0.5) ? Time(1h) : Time(1s * dice_.between(1, 4));
    twin_.register_worker(fmt::format("w{}", twin_.workers.size()), lease);
  }
  // One of the latest: older ones are dead as a rule.
  TwinWorker& worker() {
    const auto count = twin_.workers.size();
    return twin_.workers[count - 1 - dice_.pick(std::min<std::size_t>(count, 4))];
  }
  TwinWorker& of(const std::string& worker_id) {
    return *std::ranges::find(twin_.workers, worker_id, &TwinWorker::worker_id);
  }
  // One that lies there, if there is one.
  JobId some_job(Place place) {
    std::vector<JobId> ids;
    for (const auto& job : twin_.model.jobs()) {
      if (job.place == place) ids.push_back(job.id);
    }
    return ids.empty() || dice_.chance(0.2) ? some_job() : ids[dice_.pick(ids.size())];
  }
  JobId some_job() {
    return JobId{numbered(1, 1 + dice_.pick(static_cast<std::size_t>(next_job_)))};
  }

  JobSpec spec() {
    JobSpec spec;
    spec.id = dice_.chance(0.05) && next_job_ > 1 ? some_job() : JobId{numbered(1, next_job_)};
    spec.type = static_cast<int>(dice_.pick(3));
    // No two groups of a queue have one priority: among equals PostgreSQL may choose.
    spec.priority = spec.type + 3 * static_cast<int>(dice_.between(0, 1));
    if (dice_.chance(0.2)) spec.delay = 1ms * dice_.between(1, 2000);
    if (dice_.chance(0.25)) spec.serial_key = dice_.chance(0.7) ? "k" : "l";
    if (spec.serial_key.empty() && dice_.chance(0.5)) spec.concurrency_key = "c";
    if (dice_.chance(0.15)) spec.max_attempts = static_cast<int>(dice_.between(1, 9));
    if (doomed(spec.id)) spec.max_attempts = 9;
    if (dice_.chance(0.15)) spec.run_timeout = 1ms * dice_.between(100, 5000);
    if (dice_.chance(0.1)) spec.start_within = spec.delay + 1ms * dice_.between(10, 3000);
    if (dice_.chance(0.15) && next_job_ > 1) {
      for (int i = static_cast<int>(dice_.between(1, 2)); i > 0; --i) {
        const JobId id{numbered(1, 1 + dice_.pick(next_job_ - 1))};
        if (spec.after.empty() || spec.after[0] != id) spec.after.push_back(id);
      }
      spec.after_any = dice_.chance(0.5);
      spec.after_failure_runs = dice_.chance(0.4);
    }
    return spec;
  }
  void enqueue() {
    auto next = spec();
    if (std::ranges::find(next.after, next.id) != next.after.end()) next.after.clear();
    if (twin_.enqueue(next)) ++next_job_;
  }

  // Some jobs crash whoever runs them, else none would ever be poison.
  static bool doomed(JobId id) { return number_of(id.value) % 6 == 0; }

  Outcome outcome(JobId id) {
    using Kind = Outcome::Kind;
    constexpr std::array kKinds{Kind::ok,        Kind::ok,      Kind::ok,        Kind::retry,
                                Kind::retry,     Kind::retry,   Kind::throttled, Kind::blocked,
                                Kind::permanent, Kind::partial, Kind::cancelled, Kind::handback};
    Outcome outcome;
    outcome.kind = doomed(id) ? Kind::retry : kKinds[dice_.pick(kKinds.size())];
    if (dice_.chance(0.4)) {
      outcome.retry_after = 1ms * dice_.between(0, doomed(id) ? 100 : 3000);
    }
    if (outcome.kind == Kind::partial) outcome.parts_json = R"({"page": 1})";
    outcome.crash = outcome.kind == Kind::retry && (doomed(id) || dice_.chance(0.5));
    if (outcome.kind == Kind::ok && dice_.chance(0.15)) {
      outcome.effects_json =
          fmt::format(R"({{"jobs":[{{"id":"{}","job_type":"model_a","payload":{{"n":1}}}}]}})",
                      JobId{numbered(1, next_job_)});
    }
    return outcome;
  }

  // Deliveries of one worker, live ones mostly, no job twice.
  std::vector<Held> held(std::size_t most) {
    std::vector<Held> result;
    const auto& all = twin_.deliveries;
    for (std::size_t tries = 0; tries < 4 * most && result.size() < most && !all.empty(); ++tries) {
      const auto& one = all[all.size() - 1 - dice_.pick(std::min<std::size_t>(all.size(), 12))];
      const bool lives = twin_.model.lives(one.id, one.model_token);
      if (!lives && !dice_.chance(0.2)) continue;
      if (!result.empty() && result[0].worker_id != one.worker_id) continue;
      if (std::ranges::find(result, one.id, &Held::id) != result.end()) continue;
      result.push_back(one);
    }
    return result;
  }
  std::string owner(const std::vector<Held>& held) {
    return dice_.chance(0.05) ? worker().worker_id : held[0].worker_id;
  }

  void settle() {
    const auto taken = held(static_cast<std::size_t>(dice_.between(1, 4)));
    if (taken.empty()) return;
    if (taken.size() == 1 && dice_.chance(0.3)) {
      auto success = Outcome::ok();
      twin_.settle_with(owner(taken), taken[0], success);
      return;
    }
    std::vector<Outcome> outcomes;
    bool effects = false;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      outcomes.push_back(outcome(taken[i].id));
      // One follow-up a call: they have the next free id.
      if (effects) outcomes.back().effects_json.clear();
      effects = effects || !outcomes.back().effects_json.empty();
    }
    twin_.settle(owner(taken), taken, outcomes);
    if (twin_.model.find(JobId{numbered(1, next_job_)}) != nullptr) ++next_job_;
  }

  void claim() {
    Twin::ClaimChoice choice;
    choice.queue = static_cast<int>(dice_.pick(2));
    choice.limit = static_cast<int>(dice_.between(1, 4));
    choice.types = {"model_a", "model_b", "model_c"};
    if (dice_.chance(0.2)) choice.types.erase(choice.types.begin());
    choice.alone = dice_.chance(0.2);
    for (const auto& job : twin_.model.jobs()) {
      if (job.place != Place::ready || !job.suspect() || dice_.chance(0.3)) continue;
      choice.queue = job.queue;
      choice.alone = true;
    }
    choice.marked = !choice.alone && dice_.chance(0.2);
    twin_.claim(worker(), choice);
  }

  void of_worker() {
    auto& one = worker();
    const auto draw = dice_.uniform();
    if (draw < 0.25) {
      twin_.beat(one);
    } else if (draw < 0.4) {
      const auto taken = held(3);
      if (!taken.empty()) twin_.extend(owner(taken), taken, 1ms * dice_.between(500, 5000));
    } else if (draw < 0.48) {
      twin_.unheld_leases(one, held(3));
    } else if (draw < 0.55) {
      const auto taken = held(1);
      if (!taken.empty()) twin_.progress(owner(taken), taken[0]);
    } else if (draw < 0.62) {
      const auto taken = held(1);
      if (!taken.empty()) twin_.log(owner(taken), taken[0]);
    } else if (draw < 0.7) {
      const auto taken = held(1);
      twin_.retire(taken.empty() ? one : of(taken[0].worker_id));
      add_worker();
    } else if (draw < 0.92) {
      lose_processes();
    } else {
      add_worker();
    }
  }

  // Those that have the most suspected jobs, so that some are suspected enough to run alone.
  void lose_processes() {
    for (auto left = dice_.between(1, 4); left > 0; --left) {
      // One after the other: many that die at once are no evidence against a job.
      if (dice_.chance(0.8)) twin_.pass(6s);
      lose_a_process();
      add_worker();
      claim();
    }
  }
  void lose_a_process() {
    const Job* victim = nullptr;
    for (const auto& job : twin_.model.jobs()) {
      if (job.place != Place::lease) continue;
      if (victim == nullptr || job.suspects > victim->suspects) victim = &job;
    }
    twin_.hand_back_process(victim == nullptr ? worker() : of(victim->worker_id));
  }

  void cancel() {
    const auto id = dice_.chance(0.5) ? some_job(Place::lease) : some_job();
    twin_.cancel(id);
    const auto* job = twin_.model.find(id);
    if (job != nullptr && job->place == Place::lease) twin_.beat(of(job->worker_id));
  }

  void of_keeper() {
    constexpr std::array kDuties{
        Twin::Duty::reclaim,     Twin::Duty::reclaim,        Twin::Duty::promote_due,
        Twin::Duty::promote_due, Twin::Duty::promote_due,    Twin::Duty::advance,
        Twin::Duty::advance,     Twin::Duty::expire_waiting, Twin::Duty::expire_slots};
    if (dice_.chance(0.1)) {
      const auto* holder = dice_.chance(0.5) ? "k1" : "k2";
      if (dice_.chance(0.8)) {
        twin_.elect(holder, 1ms * dice_.between(100, 2000));
      } else {
        twin_.resign(holder);
      }
      return;
    }
    const auto duty = kDuties[dice_.pick(kDuties.size())];
    // Which of several equally due jobs go first is no promise: take them all or a single one.
    twin_.duty(duty, 1000);
  }

  void call() {
    const auto draw = dice_.uniform();
    if (draw < 0.14) {
      enqueue();
    } else if (draw < 0.4) {
      claim();
    } else if (draw < 0.65) {
      settle();
    } else if (draw < 0.75) {
      of_worker();
    } else if (draw < 0.92) {
      of_keeper();
    } else if (draw < 0.95) {
      cancel();
    } else if (draw < 0.98) {
      twin_.redrive(some_job(Place::history));
    } else {
      twin_.run_now(some_job(Place::delayed));
    }
  }

  Dice dice_;
  Twin twin_;
  std::uint64_t next_job_ = 1;
};

std::uint64_t chosen(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::array kMustBeSeen{
    "waits: in its lane",
    "claim: jobs of a lane",
    "enqueue: created",
    "enqueue: duplicate",
    "claim: jobs",
    "claim: marked",
    "claim: a suspect",
    "claim: nothing",
    "claim: refused",
    "settle: ok settled",
    "settle: retry settled",
    "settle: throttled settled",
    "settle: blocked settled",
    "settle: permanent settled",
    "settle: partial settled",
    "settle: cancelled settled",
    "settle: handback settled",
    "settle: ok already_settled",
    "settle: ok lease_lost",
    "settle_with: settled",
    "settle_with: already_settled",
    "extend: extended",
    "extend: not extended",
    "beat: alive",
    "beat: dead",
    "beat: cancel requests",
    "unheld_leases: some",
    "retire: some",
    "hand_back_process: some",
    "reclaim: some",
    "promote_due: some",
    "expire_waiting: some",
    "cancel: cancelled",
    "cancel: cancel_requested",
    "cancel: already_final",
    "redrive: redriven",
    "redrive: not_failed",
    "run_now: ready",
    "waits: serial",
    "waits: concurrency",
    "waits: dependency",
    "waits: deferred",
    "breaker: open",
    "breaker: half_open",
    "ended: failed exceeded_max_retries",
    "ended: failed exceeded_max_retries_after_timeout",
    "ended: failed poison",
    "ended: failed expired",
    "ended: cancelled why",
};

TEST(ModelTest, DoesWhatTheSqlFunctionsDo) {
  const auto only = chosen("MILLRACE_SEED", 0);
  const auto first = only > 0 ? only : 1;
  const auto count = chosen("MILLRACE_SEEDS", only > 0 ? 1 : kSeeds);
  for (auto seed = first; seed < first + count; ++seed) {
    Walk walk(seed);
    try {
      walk.run(kCalls);
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
  }
  if (only > 0) return;
  for (const auto* what : kMustBeSeen) {
    EXPECT_TRUE(Twin::seen().contains(what)) << what << " never happened, so it was not compared";
  }
}

}  // namespace
}  // namespace millrace::sim
