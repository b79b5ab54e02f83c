#include "sim/twin.h"

#include "base/run.h"
#include "support/must.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

namespace millrace::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using test::must;

constexpr Time kStart = std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}.time_since_epoch();

double seconds(Time time) { return std::chrono::duration<double>(time).count(); }

std::string ms(Time time) { return fmt::format("\"{} milliseconds\"", time.count() / 1000); }

std::string or_null(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "null";
}

std::string queue_json(const QueuePolicy& queue) {
  return fmt::format(
      R"({{"max_attempts": {}, "backoff_base": {}, "backoff_factor": {}, "backoff_cap": {},
          "jitter_low": 1, "jitter_high": 1, "lease": {}, "run_timeout": {}, "reclaim_jitter": "0 seconds",
          "max_age": {}, "max_snoozes": {}, "concurrency_max": {}, "key_concurrency_max": {},
          "priority_default": {}, "age_step": {}}})",
      queue.max_attempts, ms(queue.backoff_base), queue.backoff_factor, ms(queue.backoff_cap),
      ms(queue.lease), ms(queue.run_timeout), ms(queue.max_age), queue.max_snoozes,
      or_null(queue.concurrency_max), or_null(queue.key_concurrency_max), queue.priority_default,
      queue.age_step ? ms(*queue.age_step) : "null");
}

std::string limit_json(const LimitPolicy& limit) {
  return fmt::format(
      R"({{"requests_per_minute": {}, "requests_per_hour": {}, "concurrent_requests": {},
          "minute_window": {}, "hour_window": {}, "backpressure_delay_seconds": {},
          "breaker_threshold": {}, "breaker_cooldown": {}}})",
      or_null(limit.requests_per_minute), or_null(limit.requests_per_hour),
      or_null(limit.concurrent_requests), ms(limit.minute_window), ms(limit.hour_window),
      seconds(limit.backpressure_delay), limit.breaker_threshold, ms(limit.breaker_cooldown));
}

// One line per job: everything of it that both sides have.
std::string line_of(const Job& job) {
  auto line = fmt::format(
      "{} {} {} generation {} attempt {} deliveries {} crashes {} suspects {} snoozes {}",
      number_of(job.id.value), to_string(job.place), to_string(job.status()), job.generation,
      job.attempt, job.deliveries, job.crashes, job.suspects, job.snoozes);
  switch (job.place) {
    case Place::ready:
      break;
    case Place::delayed:
      line += fmt::format(" {} due {} key {}", to_string(job.reason),
                          job.due_at == kForever ? -1 : job.due_at.count(), job.wait_key);
      break;
    case Place::lease:
      line += fmt::format(" by {} alone {} until {} key {} cancel {}", job.worker_id, job.alone,
                          job.lease_until.count(), job.lease_key, job.cancel_reason.value_or("-"));
      break;
    case Place::history:
      line += fmt::format(" reason {}", job.history.back().reason);
      break;
  }
  return line;
}

// The same line from the tables. suspect_count is not kept in history.
constexpr const char* kLines = R"(
  with us as (select to_timestamp(0) as zero)
  select l.line from (
    select r.job_id, format('ready pending generation %s attempt %s deliveries %s crashes %s suspects %s snoozes %s',
             r.generation, r.attempt, r.delivery_count, r.crash_count, r.suspect_count, r.snooze_count) as line from millrace.job_place r where r.place = 'ready'
    union all
    select d.job_id, format('delayed %s generation %s attempt %s deliveries %s crashes %s suspects %s snoozes %s %s due %s key %s',
             case d.reason when 'retrying' then 'retrying' when 'deferred' then 'deferred' else 'pending' end, d.generation, d.attempt,
             d.delivery_count, d.crash_count, d.suspect_count, d.snooze_count, d.reason,
             case when d.due_at = 'infinity' then -1 else (extract(epoch from d.due_at) * 1000000)::bigint end, coalesce(d.wait_key, ''))
      from millrace.delayed d
    union all
    select l.job_id, format('lease processing generation %s attempt %s deliveries %s crashes %s suspects %s snoozes %s by %s alone %s until %s key %s cancel %s',
             l.generation, l.attempt, l.delivery_count, l.crash_count, l.suspect_count, l.snooze_count, l.worker_id,
             case when l.alone then 'true' else 'false' end, (extract(epoch from l.lease_until) * 1000000)::bigint, coalesce(l.lease_key, ''),
             coalesce(l.cancel_reason, '-')) from millrace.lease l
    union all
    select l.job_id, format('lease processing generation 1 attempt 0 deliveries 1 crashes 0 suspects 0 snoozes 0 by %s alone false until %s key  cancel -',
             l.worker_id, (extract(epoch from l.lease_until) * 1000000)::bigint) from millrace.lane_held l
    union all
    select h.job_id, format('history %s generation %s attempt %s deliveries %s crashes %s suspects ? snoozes %s reason %s',
             h.status, h.generation, h.attempt, h.delivery_count, h.crash_count, h.snooze_count, coalesce(h.reason, ''))
      from millrace.job_place h where h.place = 'history') l(job_id, line)
  order by l.job_id)";

std::string normal(std::string line) {
  if (const auto at = line.find("prerequisite "); at != std::string::npos) line.resize(at + 12);
  if (line.contains(" history ") || line.starts_with("history ")) {
    const auto from = line.find("suspects ") + 9;
    line.replace(from, line.find(' ', from) - from, "?");
  }
  return line;
}

}  // namespace

Twin::Twin(Policies policies)
    : model(policies, dice_, nobody_),
      policies_(std::move(policies)),
      now_(kStart),
      sql_(database_),
      work_(io_.get_executor(), pg::connect_options(database_.url()), {.connections_max = 1},
            random_),
      beats_(io_.get_executor(), pg::connect_options(database_.url()), {.connections_max = 1},
             random_),
      jobs_(work_, beats_),
      keeper_(work_) {
  install();
}

Twin::~Twin() = default;

void Twin::install() {
  pass(0ms);
  for (const auto& queue : policies_.queues) {
    sql_.run("select millrace.set_queue($1, $2::jsonb)", pg::params(queue.name, queue_json(queue)));
  }
  for (std::size_t i = 0; i < policies_.limits.size(); ++i) {
    sql_.run("select millrace.set_limit('p' || $1::int, 'e', $2::jsonb)",
             pg::params(static_cast<int>(i), limit_json(policies_.limits[i])));
  }
  for (const auto& type : policies_.types) {
    auto policy = fmt::format(R"({{"queue": "{}", "provider": {}}})",
                              policies_.queues[static_cast<std::size_t>(type.queue)].name,
                              type.provider ? fmt::format("\"p{}:e\"", *type.provider) : "null");
    sql_.run("select millrace.set_job_type($1, $2::jsonb)", pg::params(type.name, policy));
  }
  sql_.script("create table public.ledger (job_id uuid)");
}

template <class T>
T Twin::run(awaitable<T> task) {
  return run_blocking(io_, std::move(task));
}

template <class T>
void Twin::same(const T& pg, const T& modelled, std::string_view what) const {
  if (pg == modelled) return;
  throw std::runtime_error(
      fmt::format("{}: {}: PostgreSQL says {}, the model {}", last_call, what, pg, modelled));
}

std::map<std::string, int>& Twin::seen() {
  static std::map<std::string, int> seen;
  return seen;
}

void Twin::see(std::string_view what) const {
  ++seen()[fmt::format("{}: {}", last_call.substr(0, last_call.find(' ')), what)];
}

void Twin::pass(Time time) {
  now_ += time;
  model.set_now(now_);
  sql_.run(
      "update millrace.test_clock set shift = '0', frozen_at = to_timestamp(0) + "
      "interval '1 microsecond' * $1::bigint",
      pg::params(static_cast<std::int64_t>(now_.count())));
}

// --- Calls ---

bool Twin::enqueue(const JobSpec& spec) {
  last_call = fmt::format("enqueue {}", number_of(spec.id.value));
  auto json = fmt::format(R"({{"id": "{}", "job_type": "{}", "payload": {{"n": 1}})", spec.id,
                          policies_.types[static_cast<std::size_t>(spec.type)].name);
  const auto add = [&](std::string_view name, const auto& value) {
    json += fmt::format(R"(, "{}": {})", name, value);
  };
  if (spec.queue) {
    add("queue",
        fmt::format("\"{}\"", policies_.queues[static_cast<std::size_t>(*spec.queue)].name));
  }
  if (spec.priority) add("priority", *spec.priority);
  if (spec.delay > Time(0)) add("delay_seconds", seconds(spec.delay));
  if (!spec.serial_key.empty()) add("serial_key", fmt::format("\"{}\"", spec.serial_key));
  if (!spec.concurrency_key.empty()) {
    add("concurrency_key", fmt::format("\"{}\"", spec.concurrency_key));
  }
  if (spec.max_attempts) add("max_attempts", *spec.max_attempts);
  if (spec.run_timeout) add("run_timeout_seconds", seconds(*spec.run_timeout));
  if (spec.start_within) add("start_within_seconds", seconds(*spec.start_within));
  if (!spec.after.empty()) {
    std::vector<std::string> ids;
    for (const auto& id : spec.after) ids.push_back(fmt::format("\"{}\"", id));
    add("after",
        fmt::format(R"({{"jobs": [{}], "mode": "{}", "on_failure": "{}"}})", fmt::join(ids, ","),
                    spec.after_any ? "any" : "all", spec.after_failure_runs ? "run" : "cancel"));
  }
  json += '}';
  const auto answer =
      sql_.value("select answer from millrace.enqueue_jobs($1::jsonb)", pg::params(json));
  const bool created = model.enqueue(spec);
  same(answer, std::string(created ? "created" : "duplicate"), "answer");
  see(answer);
  return created;
}

void Twin::cancel(JobId id) {
  last_call = fmt::format("cancel {}", number_of(id.value));
  const auto answer = sql_.value("select answer from millrace.cancel_jobs(array[$1::uuid], 'why')",
                                 pg::params(id.to_string()));
  same(answer, model.cancel(id, "why"), "answer");
  see(answer);
}

void Twin::redrive(JobId id) {
  last_call = fmt::format("redrive {}", number_of(id.value));
  const auto answer = sql_.value(
      "select answer from millrace.redrive_jobs(jsonb_build_object('job_ids', "
      "jsonb_build_array($1::text)))",
      pg::params(id.to_string()));
  same(answer, model.redrive(id), "answer");
  see(answer);
}

void Twin::run_now(JobId id) {
  last_call = fmt::format("run_now {}", number_of(id.value));
  const auto answer = sql_.value("select answer from millrace.run_now(array[$1::uuid])",
                                 pg::params(id.to_string()));
  same(answer, model.run_now(id), "answer");
  see(answer);
}

void Twin::register_worker(const std::string& worker_id, Time lease) {
  last_call = "register " + worker_id;
  store::WorkerInfo info{
      .supervisor_id = "s", .host = "h", .lease = duration_cast<milliseconds>(lease)};
  const auto pg = run(jobs_.register_worker(worker_id, info));
  const auto modelled = model.register_worker(worker_id, info);
  same(pg.has_value(), modelled.has_value(), "registered");
  if (!pg.has_value()) return;
  workers.push_back({.worker_id = worker_id, .pg_process = *pg, .model_process = *modelled});
}

void Twin::beat(const TwinWorker& worker) {
  last_call = "beat " + worker.worker_id;
  const auto pg = must(run(jobs_.beat_worker({worker.worker_id, worker.pg_process}, {})));
  const auto modelled = model.beat_worker({worker.worker_id, worker.model_process});
  same(pg.alive, modelled.alive, "alive");
  see(pg.alive ? "alive" : "dead");
  if (pg.suspects > 0) see("suspects");
  if (!pg.cancel.empty()) see("cancel requests");
  same(pg.lease.count(), modelled.lease.count(), "lease");
  same(pg.suspects, modelled.suspects, "suspects");
  const auto cancelled = [](const store::BeatAnswer& answer) {
    std::set<std::string> ids;
    for (const auto& request : answer.cancel) ids.insert(request.id.to_string() + request.reason);
    return ids;
  };
  same(cancelled(pg), cancelled(modelled), "cancel requests");
}

void Twin::retire(const TwinWorker& worker) {
  last_call = "retire " + worker.worker_id;
  const auto pg = must(run(jobs_.retire_worker({worker.worker_id, worker.pg_process})));
  same(pg, model.retire_worker({worker.worker_id, worker.model_process}), "handed back");
  see(pg > 0 ? "some" : "none");
}

void Twin::unheld_leases(const TwinWorker& worker, const std::vector<Held>& held) {
  last_call = "unheld_leases " + worker.worker_id;
  std::vector<LeaseToken> for_pg;
  std::vector<LeaseToken> for_model;
  for (const auto& one : held) {
    for_pg.push_back(one.pg_token);
    for_model.push_back(one.model_token);
  }
  const auto ids = [](const std::vector<store::HeldLease>& leases) {
    std::set<JobId> found;
    for (const auto& lease : leases) found.insert(lease.id);
    return found;
  };
  const auto pg = must(run(jobs_.unheld_leases({worker.worker_id, worker.pg_process}, for_pg)));
  const auto modelled = model.unheld_leases({worker.worker_id, worker.model_process}, for_model);
  same(ids(pg), ids(modelled), "unheld");
  see(pg.empty() ? "none" : "some");
}

void Twin::hand_back_process(const TwinWorker& worker) {
  last_call = "hand_back_process " + worker.worker_id;
  const auto pg = must(run(jobs_.hand_back_process("s", worker.worker_id)));
  same(pg, model.hand_back_process("s", worker.worker_id), "handed back");
  see(pg > 0 ? "some" : "none");
}

namespace {

// What a fetcher keeps: the highest place of each group.
void remember(store::Marks& marks, const std::vector<ClaimedJob>& jobs) {
  for (const auto& job : jobs) {
    const auto colon = job.mark.rfind(':');
    std::int64_t place = 0;
    std::from_chars(job.mark.data() + colon + 1, job.mark.data() + job.mark.size(), place);
    auto& known = marks[job.mark.substr(0, colon)];
    known = std::max(known, place);
  }
}

std::string deliveries_text(const std::vector<ClaimedJob>& jobs) {
  std::string text;
  for (const auto& job : jobs) {
    text += fmt::format(
        "[{} {} {} attempt {} of {} delivery {} generation {} timeout {} lease {} {} {} {}]",
        number_of(job.id.value), job.queue, job.job_type, job.attempt, job.max_attempts,
        job.delivery_count, job.generation, job.run_timeout.count(), job.lease.count(),
        job.serial_key, job.carry_json.value_or("-"), job.alone);
  }
  return text;
}

}  // namespace

void Twin::claim(TwinWorker& worker, const ClaimChoice& choice) {
  const auto& queue = policies_.queues[static_cast<std::size_t>(choice.queue)].name;
  last_call = fmt::format("claim {} {} {}{}{}", worker.worker_id, queue, choice.limit,
                          choice.marked ? " marked" : "", choice.alone ? " alone" : "");
  store::ClaimRequest request{.worker = {worker.worker_id, worker.pg_process},
                              .queue = queue,
                              .limit = choice.limit,
                              .job_types = choice.types,
                              .marks = std::nullopt,
                              .alone = choice.alone};
  if (choice.marked) request.marks = worker.pg_marks[queue];
  auto pg = run(jobs_.claim_jobs(request));
  request.worker.process = worker.model_process;
  if (choice.marked) request.marks = worker.model_marks[queue];
  auto modelled = model.claim_jobs(request);
  same(pg.has_value(), modelled.has_value(), "claimed");
  if (!pg.has_value()) {
    same(to_string(pg.error().kind), to_string(modelled.error().kind), "error");
    see("refused");
    return;
  }
  see(pg->empty() ? "nothing" : choice.alone ? "a suspect" : choice.marked ? "marked" : "jobs");
  same(deliveries_text(*pg), deliveries_text(*modelled), "jobs");
  if (!pg->empty() && pg->front().mark.starts_with("lane:")) see("jobs of a lane");
  for (std::size_t i = 0; i < pg->size(); ++i) {
    deliveries.push_back({.id = (*pg)[i].id,
                          .worker_id = worker.worker_id,
                          .pg_token = (*pg)[i].token,
                          .model_token = (*modelled)[i].token});
  }
  remember(worker.pg_marks[queue], *pg);
  remember(worker.model_marks[queue], *modelled);
}

void Twin::extend(const std::string& worker_id, const std::vector<Held>& held, Time by) {
  last_call = "extend";
  std::vector<store::HeldLease> for_pg;
  std::vector<store::HeldLease> for_model;
  for (const auto& one : held) {
    for_pg.push_back({.id = one.id, .token = one.pg_token});
    for_model.push_back({.id = one.id, .token = one.model_token});
  }
  const auto pg =
      must(run(jobs_.extend_leases(worker_id, for_pg, duration_cast<milliseconds>(by))));
  const auto modelled = model.extend_leases(worker_id, for_model, by);
  same(pg.size(), modelled.size(), "answers");
  for (std::size_t i = 0; i < pg.size(); ++i) {
    same(pg[i].extended, modelled[i].extended, "extended");
    see(pg[i].extended ? "extended" : "not extended");
    same(pg[i].cancel_requested, modelled[i].cancel_requested, "cancel requested");
  }
}

void Twin::settle(const std::string& worker_id, const std::vector<Held>& held,
                  const std::vector<Outcome>& outcomes) {
  std::vector<Settlement> for_pg;
  std::vector<Settlement> for_model;
  last_call = "settle";
  for (std::size_t i = 0; i < held.size(); ++i) {
    last_call += fmt::format(" {} {}", number_of(held[i].id.value), to_string(outcomes[i].kind));
    for_pg.push_back(
        {.id = held[i].id, .token = held[i].pg_token, .outcome = outcomes[i], .logs = {}});
    for_model.push_back(
        {.id = held[i].id, .token = held[i].model_token, .outcome = outcomes[i], .logs = {}});
  }
  const auto pg = must(run(jobs_.settle(worker_id, for_pg)));
  const auto modelled = model.settle(worker_id, for_model);
  for (std::size_t i = 0; i < held.size(); ++i) {
    same(to_string(pg[i].answer), to_string(modelled[i].answer), "answer");
    see(fmt::format("{} {}", to_string(outcomes[i].kind), to_string(pg[i].answer)));
  }
}

void Twin::settle_with(const std::string& worker_id, const Held& held, const Outcome& outcome) {
  last_call = fmt::format("settle_with {}", number_of(held.id.value));
  const auto entries = [this] { return sql_.number("select count(*) from public.ledger"); };
  const auto before = entries();
  const auto pg = must(run(jobs_.settle_with(
      worker_id, {.id = held.id, .token = held.pg_token, .outcome = outcome, .logs = {}},
      {{.sql = "insert into public.ledger values ($1::uuid)", .params = {held.id.to_string()}}})));
  const auto modelled = model.settle(
      worker_id, {{.id = held.id, .token = held.model_token, .outcome = outcome, .logs = {}}});
  same(to_string(pg), to_string(modelled[0].answer), "answer");
  see(to_string(pg));
  same(entries() - before, std::int64_t{pg == Answer::settled ? 1 : 0}, "ledger entries");
}

void Twin::progress(const std::string& worker_id, const Held& held) {
  last_call = "report_progress";
  const auto pg = must(run(jobs_.report_progress(
      worker_id,
      {{.id = held.id, .token = held.pg_token, .percent = 5, .message = {}, .data_json = {}}})));
  const auto modelled = model.report_progress(
      worker_id,
      {{.id = held.id, .token = held.model_token, .percent = 5, .message = {}, .data_json = {}}});
  same(pg[0].held, modelled[0].held, "held");
  same(pg[0].cancel_requested, modelled[0].cancel_requested, "cancel requested");
}

void Twin::log(const std::string& worker_id, const Held& held) {
  last_call = "append_logs";
  const auto pg = must(run(jobs_.append_logs(
      worker_id, {{.id = held.id, .token = held.pg_token, .line = {.message = "x"}}})));
  same(pg,
       model.append_logs(worker_id,
                         {{.id = held.id, .token = held.model_token, .line = {.message = "x"}}}),
       "kept");
}

void Twin::duty(Duty duty, int limit) {
  std::int64_t pg = 0;
  std::int64_t modelled = 0;
  switch (duty) {
    case Duty::reclaim:
      last_call = fmt::format("reclaim {}", limit);
      pg = must(run(keeper_.reclaim(limit)));
      modelled = model.reclaim(limit);
      break;
    case Duty::promote_due:
      last_call = fmt::format("promote_due {}", limit);
      pg = must(run(keeper_.promote_due(limit)));
      modelled = model.promote_due(limit);
      break;
    case Duty::advance:
      // The number of notes is no promise: PostgreSQL may write one where the model writes two.
      last_call = fmt::format("advance {}", limit);
      must(run(keeper_.advance(1000)));
      model.advance(1000);
      break;
    case Duty::expire_waiting:
      last_call = fmt::format("expire_waiting {}", limit);
      pg = must(run(keeper_.expire_waiting(limit)));
      modelled = model.expire_waiting(limit);
      break;
    case Duty::expire_slots:
      last_call = fmt::format("expire_slots {}", limit);
      pg = must(run(keeper_.expire_slots(limit)));
      modelled = model.expire_slots(limit);
      break;
  }
  same(pg, modelled, "handled");
  see(pg > 0 ? "some" : "none");
}

void Twin::elect(const std::string& holder, Time ttl) {
  last_call = "elect " + holder;
  same(must(run(keeper_.elect("keeper", holder, duration_cast<milliseconds>(ttl)))),
       model.elect("keeper", holder, ttl), "elected");
}

void Twin::resign(const std::string& holder) {
  last_call = "resign " + holder;
  must(run(keeper_.resign("keeper", holder)));
  model.resign("keeper", holder);
}

// --- What both hold ---

void Twin::compare() {
  compare_jobs();
  adopt_order();
  compare_limits();
  compare_workers();
}

void Twin::compare_jobs() {
  std::vector<const Job*> sorted;
  for (const auto& job : model.jobs()) sorted.push_back(&job);
  std::ranges::sort(sorted, {}, &Job::id);
  const auto rows = sql_.rows(kLines);
  same(rows.rows(), sorted.size(), "number of jobs");
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto number = fmt::format("{} ", number_of(sorted[i]->id.value));
    same(normal(number + std::string(rows[i].text(0))), normal(line_of(*sorted[i])), "job");
    const auto& job = *sorted[i];
    if (job.place == Place::delayed) ++seen()[fmt::format("waits: {}", to_string(job.reason))];
    if (job.place == Place::history) {
      ++seen()[fmt::format("ended: {} {}", to_string(job.status()), job.history.back().reason)];
    }
  }
}

// Jobs that became ready in one call may stand in any order; all others must stand as they do.
void Twin::adopt_order() {
  std::vector<JobId> pg;
  for (const auto row : sql_.rows("select job_id from millrace.ready order by ready_seq")) {
    pg.push_back(must(JobId::parse(row.text(0))));
  }
  std::vector<const Job*> ready;
  std::vector<const Job*> in_lanes;
  for (const auto& job : model.jobs()) {
    if (job.place == Place::ready) (job.in_lane ? in_lanes : ready).push_back(&job);
  }
  std::ranges::sort(ready, {}, &Job::ready_seq);
  std::ranges::sort(in_lanes, {}, &Job::ready_seq);
  std::vector<std::string> lane_pg;
  std::vector<std::string> lane_model;
  for (const auto row :
       sql_.rows("select job_id from millrace.lane_waiting order by lane_xid, seq")) {
    lane_pg.push_back(fmt::format("{}", number_of(must(JobId::parse(row.text(0))).value)));
  }
  for (const auto* job : in_lanes) {
    lane_model.push_back(fmt::format("{}", number_of(job->id.value)));
  }
  same(fmt::format("{}", fmt::join(lane_pg, " ")), fmt::format("{}", fmt::join(lane_model, " ")),
       "order of what waits in lanes");
  if (!lane_pg.empty()) ++seen()["waits: in its lane"];
  const auto any_place = [this](const Job& job) {
    return std::ranges::find(ready_before_, job.id) == ready_before_.end() &&
           (job.ready_at == now_ || job.reseated);
  };
  std::vector<JobId> fresh_pg;
  std::vector<std::string> old_pg;
  std::vector<std::string> old_model;
  for (const auto& id : pg) {
    if (any_place(*model.find(id))) {
      fresh_pg.push_back(id);
    } else {
      old_pg.push_back(fmt::format("{}", number_of(id.value)));
    }
  }
  for (const auto* job : ready) {
    if (!any_place(*job)) {
      old_model.push_back(fmt::format("{}", number_of(job->id.value)));
    }
  }
  same(fmt::format("{}", fmt::join(old_pg, " ")), fmt::format("{}", fmt::join(old_model, " ")),
       "order of what is ready");
  model.order_ready(fresh_pg);
  ready_before_ = pg;
}

void Twin::compare_limits() {
  for (std::size_t i = 0; i < policies_.limits.size(); ++i) {
    const auto& limiter = model.limiters()[i];
    const auto row = sql_.rows(
        "select breaker_state, coalesce((extract(epoch from throttled_until) * 1000000)::bigint, "
        "-1), "
        "(select count(*) from millrace.provider_slot s join millrace.lease l on l.job_id = "
        "s.job_id "
        "and l.token = s.token where s.provider_id = p.provider_id) "
        "+ (select coalesce(sum(s.jobs), 0) from millrace.provider_slot s join millrace.claim_open "
        "o on o.claim_id = s.claim_id where s.provider_id = p.provider_id) "
        "from millrace.api_rate_limits p where provider_name = 'p' || $1::int",
        pg::params(static_cast<int>(i)));
    constexpr std::array<std::string_view, 3> kStates{"closed", "open", "half_open"};
    same(std::string(row[0].text(0)),
         std::string(kStates[static_cast<std::size_t>(limiter.breaker())]), "breaker");
    same(row[0].i64(1), std::int64_t{limiter.throttled_until().value_or(Time(-1)).count()},
         "throttled until");
    std::int64_t running = 0;
    for (const auto& job : model.jobs()) {
      const auto provider = policies_.types[static_cast<std::size_t>(job.type)].provider;
      if (job.place == Place::lease && provider == static_cast<int>(i)) ++running;
    }
    same(row[0].i64(2), running, "slots");
    ++seen()[fmt::format("breaker: {}", kStates[static_cast<std::size_t>(limiter.breaker())])];
  }
}

void Twin::compare_workers() {
  std::vector<std::string> pg;
  std::vector<std::string> modelled;
  for (const auto row :
       sql_.rows("select format('%s %s', worker_id, (extract(epoch from lease_until) * "
                 "1000000)::bigint) from millrace.worker order by 1")) {
    pg.emplace_back(row.text(0));
  }
  for (const auto& row : model.workers()) {
    modelled.push_back(fmt::format("{} {}", row.worker_id, row.lease_until.count()));
  }
  std::ranges::sort(pg);
  std::ranges::sort(modelled);
  same(fmt::format("{}", fmt::join(pg, ", ")), fmt::format("{}", fmt::join(modelled, ", ")),
       "workers");
}

}  // namespace millrace::sim
