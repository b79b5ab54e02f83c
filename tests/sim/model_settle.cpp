// How deliveries and jobs end in the model, after take_leases, resolve_moves, settle_core and
// release_claims.
#include "base/json.h"
#include "sim/model.h"

#include <algorithm>

namespace millrace::sim {

Model::Moving Model::moving(Job& job, std::string outcome) const {
  return {.job = &job,
          .from = job.place,
          .token = job.token,
          .lease_key = job.lease_key,
          .cancel_reason = job.cancel_reason,
          .outcome = std::move(outcome)};
}

// A job that was not running ends: cancelled, or failed for the reason given.
void Model::end_unstarted(Job& job, std::string outcome, std::string reason) {
  Moving row{.job = &job, .from = job.place, .outcome = std::move(outcome)};
  if (row.outcome == "cancelled") {
    row.cancel_reason = std::move(reason);
  } else {
    row.reason = std::move(reason);
  }
  settle_core({row});
}

// The fence: job, worker and token must match.
std::optional<Model::Moving> Model::take_lease(const std::string& worker_id,
                                               const Settlement& settlement) {
  auto* job = get(settlement.id);
  if (job == nullptr || job->place != Place::lease || job->token != settlement.token ||
      job->worker_id != worker_id) {
    return std::nullopt;
  }
  const auto& outcome = settlement.outcome;
  auto row = moving(*job, std::string(to_string(outcome.kind)));
  row.crash = outcome.crash;
  if (outcome.retry_after && outcome.retry_after->count() >= 0 &&
      *outcome.retry_after <= std::chrono::hours(24)) {
    row.until = now_ + *outcome.retry_after;
  }
  if (outcome.kind == Outcome::Kind::partial) {
    row.carry = outcome.parts_json.empty() ? "{}" : outcome.parts_json;
  }
  return row;
}

// All in one transaction: plain successes first, then jobs with effects one by one, then the rest
// together, as PgJobStore::settle and settle_jobs do.
std::vector<JobAnswer> Model::settle(const std::string& worker_id,
                                     const std::vector<Settlement>& settlements) {
  std::vector<JobAnswer> answers;
  for (const auto& settlement : settlements) {
    answers.push_back({.id = settlement.id, .answer = Answer::not_found});
  }
  std::vector<bool> settled(settlements.size(), false);
  const auto settle_those = [&](auto belongs, bool together) {
    std::vector<Moving> rows;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      if (settled[i] || !belongs(settlements[i].outcome)) continue;
      auto row = take_lease(worker_id, settlements[i]);
      if (!row) continue;
      settled[i] = true;
      rows.push_back(*std::move(row));
      if (together) continue;
      settle_core(std::exchange(rows, {}));
      apply_effects(settlements[i]);
    }
    std::ranges::sort(rows, {}, [](const Moving& row) { return row.job->id; });
    settle_core(std::move(rows));
  };
  settle_those([](const Outcome& outcome) { return outcome.plain(); }, true);
  settle_those([](const Outcome& outcome) { return !outcome.effects_json.empty(); }, false);
  settle_those([](const Outcome&) { return true; }, true);
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    answers[i].answer =
        settled[i] ? Answer::settled : explain_stale(settlements[i].id, settlements[i].token);
  }
  return answers;
}

// Follow-up jobs: {"jobs": [{"id": ..., "job_type": ..., "payload": ...}]}.
void Model::apply_effects(const Settlement& settlement) {
  const auto effects = parse_json_object(settlement.outcome.effects_json);
  if (!effects || !effects->contains("jobs")) return;
  for (const auto& item : effects->at("jobs").as_array()) {
    JobSpec spec;
    spec.id = JobId::parse(item.at("id").as_string()).value();
    const auto type = std::ranges::find(
        policies_.types, std::string_view(item.at("job_type").as_string()), &TypePolicy::name);
    spec.type = static_cast<int>(type - policies_.types.begin());
    enqueue(spec);
  }
}

Answer Model::explain_stale(JobId id, LeaseToken token) const {
  const auto* job = find(id);
  if (job == nullptr) return Answer::not_found;
  const auto of_token = [&](const auto& item) { return item.token == token; };
  const bool lost = std::ranges::any_of(job->attempts, [&](const Attempt& attempt) {
    return attempt.token == token && attempt.outcome == "lost";
  });
  if (!lost && (std::ranges::any_of(job->history, of_token) ||
                std::ranges::any_of(job->attempts, of_token))) {
    return Answer::already_settled;
  }
  if (job->place == Place::history && job->history.back().status == JobStatus::cancelled) {
    return Answer::cancelled;
  }
  return Answer::lease_lost;
}

// --- Where a job goes after its outcome ---

void Model::finish(Moving& row, JobStatus status, std::string reason) {
  auto& job = *row.job;
  job.place = Place::history;
  job.history.push_back({.generation = job.generation,
                         .status = status,
                         .reason = std::move(reason),
                         .token = row.token,
                         .attempt = job.attempt,
                         .deliveries = job.deliveries});
}

void Model::wait(Moving& row, WaitReason reason, Time due_at) {
  auto& job = *row.job;
  job.place = Place::delayed;
  job.reason = reason;
  job.due_at = due_at;
  job.wait_key.clear();
  job.start_deadline.reset();  // It was started once.
}

void Model::resolve(Moving& row) {
  auto& job = *row.job;
  const auto& queue = policies_.queues[static_cast<std::size_t>(job.queue)];
  const auto& type = policies_.types[static_cast<std::size_t>(job.type)];
  const auto& outcome = row.outcome;
  const int one = row.from == Place::lease ? 1 : 0;
  bool charged = false;
  const bool of_claim = job.claim != 0;
  pin(job);
  job.in_lane = false;
  if (row.crash) ++job.crashes;
  if (outcome == "ok") {
    ++job.attempt;
    finish(row, JobStatus::completed, "");
  } else if (outcome == "permanent") {
    charged = true;
    job.attempt += one;
    finish(row, JobStatus::failed, row.reason.empty() ? "permanent" : row.reason);
  } else if (outcome == "cancelled" || row.cancel_reason) {
    job.attempt += one;
    finish(row, JobStatus::cancelled, row.cancel_reason.value_or("cancelled"));
  } else if (outcome == "handback") {
    job.place = Place::ready;  // At its old place in line, if it had one, and as old as it was.
    job.reseated = of_claim;
    job.ready_at = job.born_at;
    if (job.has_deadline) job.start_deadline = job.fact_deadline;
  } else if (outcome == "throttled" || outcome == "blocked") {
    ++job.snoozes;
    if (job.snoozes > queue.max_snoozes || now_ - job.born_at > queue.max_age) {
      finish(row, JobStatus::failed, "expired");
    } else if (outcome == "blocked") {
      wait(row, WaitReason::deferred, row.until.value_or(now_ + std::chrono::seconds(60)));
    } else {
      wait(row, WaitReason::scheduled,
           row.until ? *row.until : now_ + backoff_delay(queue, std::min(job.snoozes, 5)));
    }
  } else {
    charged = true;
    ++job.attempt;
    const int most = job.max_attempts.value_or(type.max_attempts.value_or(queue.max_attempts));
    if (job.crashes >= 3) {
      finish(row, JobStatus::failed, "poison");
    } else if (job.attempt >= most) {
      finish(row, JobStatus::failed,
             outcome == "lost" ? "exceeded_max_retries_after_timeout" : "exceeded_max_retries");
    } else {
      wait(row, WaitReason::retrying,
           row.until ? *row.until : now_ + backoff_delay(queue, job.attempt));
      if (!row.carry.empty()) job.has_carry = true;
    }
  }
  const bool failed = job.place == Place::history && job.history.back().status == JobStatus::failed;
  if (outcome != "ok" && outcome != "handback" && (row.from == Place::lease || failed)) {
    job.attempts.push_back(
        {.token = row.token, .outcome = outcome, .charged = charged, .ended_at = now_});
    if (!row.carry.empty()) job.carry = row.carry;
  }
}

void Model::settle_core(std::vector<Moving> rows) {
  for (auto& row : rows) {
    if (row.from != Place::lease) row.token = {};
    resolve(row);
  }
  for (const auto& row : rows) {
    if (row.from == Place::lease) watch_.unleased(*row.job, row.token, row.outcome);
    if (row.job->place == Place::history) watch_.ended(*row.job, row.job->history.back());
  }
  release_claims(rows);
  for (const auto& row : rows) {
    if (row.job->place == Place::ready) wake(row.job->queue);
  }
}

// What a job that leaves its lease or ends gives up, and what it owes others.
void Model::release_claims(const std::vector<Moving>& rows) {
  std::set<std::pair<int, std::string>> keys;
  for (const auto& row : rows) {
    const auto& job = *row.job;
    const bool final = job.place == Place::history;
    if (!job.serial_key.empty() && final) {
      auto& members = members_[{job.queue, job.serial_key}];
      if (members.erase(job.seq) > 0) keys.emplace(job.queue, "s:" + job.serial_key);
    }
    if (row.from != Place::lease) continue;
    if (row.lease_key.starts_with("c:") || (row.lease_key.starts_with("s:") && !final)) {
      keys.emplace(job.queue, row.lease_key);
    }
  }
  for (const auto& [queue, key] : keys) advance_key(queue, key);
  for (const auto& row : rows) {
    const auto& job = *row.job;
    if (job.place == Place::history) {
      if (job.batched) {
        const auto status = job.history.back().status;
        handoffs_.push_back({.kind = Handoff::Kind::batch,
                             .batch = *job.fact_batch,
                             .completed = status == JobStatus::completed ? 1 : 0,
                             .failed = status == JobStatus::failed ? 1 : 0,
                             .cancelled = status == JobStatus::cancelled ? 1 : 0});
      }
      for (const auto& dependency : dependencies_) {
        if (dependency.depends_on == job.id) {
          handoffs_.push_back({.kind = Handoff::Kind::dependency, .job = dependency.job});
        }
      }
    }
    const auto provider = policies_.types[static_cast<std::size_t>(job.type)].provider;
    if (row.from == Place::lease && provider) {
      limiters_[static_cast<std::size_t>(*provider)].settle(now_, job.id, row.token, row.outcome,
                                                            row.until);
    }
  }
}

void Model::advance_key(int queue, const std::string& key) {
  if (hiccup()) {
    handoffs_.push_back({.kind = Handoff::Kind::key, .queue = queue, .wait_key = key});
    return;
  }
  const auto running = std::ranges::count_if(jobs_, [&](const Job& job) {
    return job.place == Place::lease && job.queue == queue && job.lease_key == key;
  });
  if (key.starts_with("s:")) {
    const auto& members = members_[{queue, key.substr(2)}];
    if (running > 0 || members.empty()) return;
    auto* head = get(members.begin()->second);
    if (head->place == Place::delayed && head->reason == WaitReason::serial) promote({head});
    return;
  }
  std::vector<Job*> waiting;
  for (auto& job : jobs_) {
    if (job.place == Place::delayed && job.queue == queue && job.wait_key == key) {
      waiting.push_back(&job);
    }
  }
  std::ranges::sort(waiting, {}, &Job::wait_seq);
  const auto most = policies_.queues[static_cast<std::size_t>(queue)].key_concurrency_max;
  const auto room = most ? std::max<std::ptrdiff_t>(0, *most - running) : 1000;
  if (waiting.size() > static_cast<std::size_t>(room)) {
    waiting.resize(static_cast<std::size_t>(room));
  }
  promote(std::move(waiting));
}

// --- Deliveries that nobody settles ---

int Model::hand_back(const store::WorkerKey& worker) {
  std::vector<Moving> rows;
  for (auto& job : jobs_) {
    if (job.place == Place::lease && job.process == worker.process &&
        job.worker_id == worker.worker_id) {
      rows.push_back(moving(job, "handback"));
    }
  }
  const int count = static_cast<int>(rows.size());
  settle_core(std::move(rows));
  return count;
}

void Model::note_death(const Uuid& process) {
  const bool alone = std::ranges::any_of(jobs_, [&](const Job& job) {
    return job.place == Place::lease && job.process == process && job.alone;
  });
  if (!alone) deaths_.push_back(now_);
}

// Where others die as well, that one more does is no evidence against its job.
std::ptrdiff_t Model::recent_deaths() const {
  return std::ranges::count_if(deaths_,
                               [&](Time at) { return at > now_ - std::chrono::seconds(5); });
}

int Model::reclaim_leases(const std::vector<Job*>& jobs, bool process_death, bool at_once) {
  std::vector<Moving> rows;
  for (auto* job : jobs) {
    auto row = moving(*job, "lost");
    const auto jitter = policies_.queues[static_cast<std::size_t>(job->queue)].reclaim_jitter;
    const auto share = at_once ? 0.0 : random_.uniform();
    row.until = now_ + Time(static_cast<std::int64_t>(static_cast<double>(jitter.count()) * share));
    const auto own = std::ranges::count_if(job->attempts, [&](const Attempt& attempt) {
      return attempt.outcome == "lost" && attempt.ended_at > now_ - std::chrono::seconds(5);
    });
    if (process_death && !job->alone && recent_deaths() - 1 <= own) ++job->suspects;
    if (process_death && job->alone && recent_deaths() == 0) ++job->crashes;
    rows.push_back(std::move(row));
  }
  settle_core(std::move(rows));
  return static_cast<int>(jobs.size());
}

// --- Held deliveries ---

std::vector<store::ExtendAnswer> Model::extend_leases(const std::string& worker_id,
                                                      const std::vector<store::HeldLease>& leases,
                                                      Time extend) {
  std::vector<store::ExtendAnswer> answers;
  for (const auto& held : leases) {
    auto* job = get(held.id);
    const bool is = lives(held.id, held.token) && job->worker_id == worker_id;
    if (is) {
      pin(*job);
      job->lease_until = now_ + extend;
    }
    answers.push_back(
        {.id = held.id, .extended = is, .cancel_requested = is && job->cancel_reason.has_value()});
  }
  return answers;
}

std::vector<store::ProgressAnswer> Model::report_progress(
    const std::string& worker_id, const std::vector<store::ProgressItem>& items) {
  std::vector<store::ProgressAnswer> answers;
  for (const auto& item : items) {
    auto* job = get(item.id);
    const bool held = lives(item.id, item.token) && job->worker_id == worker_id;
    const bool told =
        held || (job != nullptr && explain_stale(item.id, item.token) != Answer::lease_lost &&
                 explain_stale(item.id, item.token) != Answer::not_found);
    if (held) pin(*job);
    answers.push_back(
        {.id = item.id, .held = told, .cancel_requested = held && job->cancel_reason.has_value()});
  }
  return answers;
}

int Model::append_logs(const std::string& worker_id, const std::vector<store::JobLogItem>& items) {
  return static_cast<int>(std::ranges::count_if(items, [&](const store::JobLogItem& item) {
    const bool held = lives(item.id, item.token) && find(item.id)->worker_id == worker_id;
    if (held) pin(*get(item.id));
    return held;
  }));
}

}  // namespace millrace::sim
