#include "sim/plan.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace millrace::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

milliseconds whole_ms(Time time) { return std::chrono::duration_cast<milliseconds>(time); }

template <class T, std::size_t N>
T one_of(Dice& dice, const T (&choices)[N]) {
  return choices[dice.pick(N)];
}

worker::Options choose_options(Dice& dice) {
  worker::Options options;
  options.slots = static_cast<int>(dice.between(1, 4));
  options.prefetch = static_cast<int>(dice.between(0, 4));
  options.lease = whole_ms(dice.time(1s, 3s));
  options.beat_interval = whole_ms(dice.time(300ms, 1500ms));
  options.poll_interval = whole_ms(dice.time(250ms, 1s));
  options.rescan_interval = whole_ms(dice.time(20ms, 250ms));
  options.report_interval = whole_ms(dice.time(20ms, 500ms));
  options.prefetch_age_max = whole_ms(dice.time(50ms, 2s));
  options.prefetch_run_max = whole_ms(dice.time(20ms, 500ms));
  options.drain_timeout = whole_ms(dice.time(50ms, 3s));
  options.settle_timeout = whole_ms(dice.time(300ms, 3s));
  options.kill_timeout = whole_ms(dice.time(20ms, 500ms));
  options.alone_session_max = whole_ms(dice.time(200ms, 5s));
  options.host = "h";
  return options;
}

QueuePolicy choose_queue(Dice& dice, bool crashers) {
  QueuePolicy queue;
  queue.max_attempts = static_cast<int>(crashers ? dice.between(7, 12) : dice.between(2, 8));
  queue.backoff_base = dice.time(1ms, 100ms);
  queue.backoff_cap = std::max(queue.backoff_base, dice.time(50ms, 1s));
  queue.lease = dice.time(1s, 3s);
  queue.run_timeout = crashers ? dice.time(2s, 10s) : one_of<Time>(dice, {300ms, 2s, 10s, 600s});
  queue.reclaim_jitter = dice.time(0ms, 500ms);
  if (dice.chance(0.1)) queue.max_age = dice.time(500ms, 3s);
  if (dice.chance(0.1)) queue.max_snoozes = static_cast<int>(dice.between(1, 3));
  if (dice.chance(0.2)) queue.concurrency_max = static_cast<int>(dice.between(1, 3));
  if (dice.chance(0.3)) queue.key_concurrency_max = static_cast<int>(dice.between(1, 2));
  queue.age_step = dice.chance(0.2) ? std::nullopt : std::optional(dice.time(1ms, 10s));
  return queue;
}

LimitPolicy choose_limit(Dice& dice) {
  LimitPolicy limit;
  if (dice.chance(0.7)) limit.requests_per_minute = static_cast<int>(dice.between(1, 5));
  if (dice.chance(0.3)) limit.requests_per_hour = static_cast<int>(dice.between(4, 8));
  if (dice.chance(0.6)) limit.concurrent_requests = static_cast<int>(dice.between(1, 3));
  limit.minute_window = dice.time(1s, 2s);
  limit.hour_window = dice.time(2s, 3s);
  limit.backpressure_delay = dice.time(10ms, 500ms);
  limit.breaker_threshold = static_cast<int>(dice.between(1, 4));
  limit.breaker_cooldown = dice.time(5ms, 50ms);
  return limit;
}

Policies choose_policies(Dice& dice, bool crashers) {
  Policies policies;
  const int queues = dice.chance(0.3) ? 2 : 1;
  for (int i = 0; i < queues; ++i) {
    policies.queues.push_back(choose_queue(dice, crashers));
    policies.queues.back().name = i == 0 ? "default" : "second";
  }
  if (dice.chance(0.35)) policies.limits.push_back(choose_limit(dice));
  const int types = static_cast<int>(dice.between(1, 3));
  for (int i = 0; i < types; ++i) {
    TypePolicy type;
    type.name = std::string(1, static_cast<char>('a' + i));
    type.queue = static_cast<int>(dice.pick(policies.queues.size()));
    if (!policies.limits.empty() && (i == 0 || dice.chance(0.3))) type.provider = 0;
    if (dice.chance(0.1)) type.run_timeout = dice.time(100ms, 1s);
    policies.types.push_back(std::move(type));
  }
  return policies;
}

Script choose_script(Dice& dice, const worker::Options& options) {
  using End = Script::End;
  Script script;
  script.first =
      one_of<End>(dice, {End::ok, End::ok, End::ok, End::ok, End::retry, End::retry, End::throttled,
                         End::blocked, End::permanent, End::partial, End::hang, End::thrown});
  script.times = static_cast<int>(dice.between(1, 3));
  const auto length = dice.uniform();
  if (length < 0.3) {
    script.run = 0ms;
  } else if (length < 0.7) {
    script.run = dice.time(1ms, 50ms);
  } else if (length < 0.9) {
    script.run = dice.time(50ms, 400ms);
  } else {
    script.run = dice.time(options.lease / 2, options.lease * 2);
  }
  script.retry_after = dice.time(1ms, 300ms);
  script.stubborn = dice.chance(0.1);
  script.statement = dice.chance(0.3);
  script.statement_fails = script.statement && dice.chance(0.1);
  script.unstorable = !script.statement && dice.chance(0.04);
  script.talks = dice.chance(0.3);
  return script;
}

JobSpec choose_spec(Dice& dice, const WorldPlan& plan, std::size_t index, bool keys) {
  JobSpec spec;
  spec.id = job_id(index);
  spec.type = static_cast<int>(dice.pick(plan.policies.types.size()));
  spec.priority = static_cast<int>(dice.between(0, 3));
  if (dice.chance(0.2)) spec.delay = dice.time(1ms, 1s);
  if (keys && dice.chance(0.7)) {
    auto& key = dice.chance(0.5) ? spec.serial_key : spec.concurrency_key;
    key = dice.chance(0.7) ? "k" : "l";
  }
  if (dice.chance(0.1)) spec.max_attempts = static_cast<int>(dice.between(1, 9));
  if (dice.chance(0.05)) spec.start_within = spec.delay + dice.time(10ms, 2s);
  if (index > 0 && dice.chance(0.08)) {
    spec.after.push_back(job_id(dice.pick(index)));
    spec.after_any = dice.chance(0.3);
    spec.after_failure_runs = dice.chance(0.5);
  }
  return spec;
}

Time run_timeout_of(const WorldPlan& plan, const JobSpec& spec) {
  const auto& type = plan.policies.types[static_cast<std::size_t>(spec.type)];
  const auto& queue = plan.policies.queues[static_cast<std::size_t>(type.queue)];
  return spec.run_timeout.value_or(type.run_timeout.value_or(queue.run_timeout));
}

void add_follow_ups(Dice& dice, WorldPlan& plan) {
  const auto enqueued = plan.jobs.size();
  for (std::size_t i = 0; i < enqueued; ++i) {
    auto& script = plan.jobs[i].script;
    if (script.statement || script.unstorable || !dice.chance(0.08)) continue;
    script.follow_up = job_id(plan.jobs.size());
    PlannedJob next;
    next.at = kForever;
    next.spec.id = *script.follow_up;
    next.spec.type = static_cast<int>(dice.pick(plan.policies.types.size()));
    plan.jobs.push_back(std::move(next));
  }
  if (!dice.chance(0.15)) return;
  plan.batch_size = static_cast<std::size_t>(dice.between(1, static_cast<std::int64_t>(enqueued)));
  for (std::size_t i = 0; i < *plan.batch_size; ++i) plan.jobs[i].spec.batch = 0;
  plan.callback = plan.jobs.size();
  PlannedJob callback;
  callback.at = kForever;
  callback.spec.id = job_id(*plan.callback);
  callback.spec.type = static_cast<int>(dice.pick(plan.policies.types.size()));
  plan.jobs.push_back(std::move(callback));
}

// Each kind of trouble is there or not: a world with everything at once seldom gets far enough to
// show what a single fault does.
Weather choose_weather(Dice& dice) {
  Weather weather;
  const auto rate = [&dice] { return dice.chance(0.35) ? one_of(dice, {0.01, 0.05, 0.2}) : 0.0; };
  weather.refused = rate();
  weather.lost = rate();
  weather.cut = rate();
  weather.slow = rate();
  weather.late = rate() / 4;
  weather.hiccups = rate();
  weather.slowness = dice.chance(0.2) ? 0.02 : 0;
  weather.latency_max = one_of<Time>(dice, {1ms, 1ms, 5ms, 50ms});
  return weather;
}

void choose_faults(Dice& dice, WorldPlan& plan) {
  using Kind = Fault::Kind;
  std::vector<Kind> kinds;
  for (int kind = 0; kind <= static_cast<int>(Kind::run_job_now); ++kind) {
    if (dice.chance(0.3)) kinds.push_back(static_cast<Kind>(kind));
  }
  if (kinds.empty()) return;
  const auto count = dice.between(0, 6);
  for (int i = 0; i < count; ++i) {
    Fault fault;
    fault.kind = kinds[dice.pick(kinds.size())];
    fault.at = dice.time(1ms, plan.calm_from);
    fault.which = dice.next();
    const bool of_database =
        fault.kind == Kind::restart_database || fault.kind == Kind::stall_database;
    fault.duration = of_database ? dice.time(20ms, 2s)
                                 : dice.time(plan.options.lease / 4, plan.options.lease * 5 / 2);
    plan.faults.push_back(fault);
  }
}

}  // namespace

WorldPlan make_plan(std::uint64_t seed) {
  // Neighbouring seeds must not give neighbouring sequences.
  Dice dice(seed * 0xd1342543de82ef95ULL + 0x632be59bd9b4e019ULL);
  WorldPlan plan;
  plan.seed = seed;
  plan.crashers = dice.chance(0.04);
  plan.workers = one_of(dice, {1, 1, 2, 2, 3});
  plan.keepers = one_of(dice, {1, 1, 2});
  plan.supervised = dice.chance(0.3);
  plan.hints = dice.chance(0.5);
  plan.options = choose_options(dice);
  // Without the dice: what the seed means otherwise stays as it is.
  if (seed % 3 == 0) plan.options.unsettled_max = 1 + static_cast<int>(seed / 3 % 4);
  if (plan.supervised) plan.options.supervisor_id = "s";
  plan.keeper_ttl = dice.time(500ms, 2s);
  plan.keeper_pace = static_cast<int>(dice.between(1, 4));
  plan.call_timeout = dice.time(500ms, 2s);
  plan.policies = choose_policies(dice, plan.crashers);
  for (const auto& queue : plan.policies.queues) {
    if (&queue == plan.policies.queues.data()) plan.options.queues.clear();
    plan.options.queues.push_back(
        {.name = queue.name, .weight = static_cast<int>(dice.between(1, 3))});
  }
  const bool keys = dice.chance(0.35);
  // Mostly small: what takes many jobs to happen is rare, and small worlds are lived through fast.
  const auto jobs = static_cast<std::size_t>(dice.between(2, dice.chance(0.25) ? 12 : 5));
  plan.calm_from = dice.time(100ms, dice.chance(0.25) ? 3s : 1s);
  for (std::size_t i = 0; i < jobs; ++i) {
    PlannedJob job;
    job.spec = choose_spec(dice, plan, i, keys);
    job.script = choose_script(dice, plan.options);
    if (job.script.first == Script::End::hang) {
      job.spec.run_timeout = dice.time(20ms, 1s);
      job.script.run = *job.spec.run_timeout + dice.time(100ms, 2s);
    } else {
      job.script.run = std::min(job.script.run, run_timeout_of(plan, job.spec) * 3 / 4);
    }
    job.at = dice.chance(0.6) ? Time(0) : dice.time(0ms, plan.calm_from);
    // A job can only wait for one that exists.
    if (!job.spec.after.empty()) job.at = plan.calm_from;
    job.repeated = dice.chance(0.1);
    plan.jobs.push_back(std::move(job));
  }
  if (plan.crashers) {
    auto& job = plan.jobs[dice.pick(jobs)];
    job.script.first = Script::End::crash;
    job.script.times = dice.chance(0.6) ? 100 : static_cast<int>(dice.between(1, 4));
    job.spec.max_attempts.reset();
  }
  add_follow_ups(dice, plan);
  plan.weather = choose_weather(dice);
  choose_faults(dice, plan);
  // A circuit breaker doubles its pause with every probe that fails, up to ten minutes.
  plan.patience = !plan.policies.limits.empty() ? 2h : plan.crashers ? 600s : 120s;
  return plan;
}

}  // namespace millrace::sim
