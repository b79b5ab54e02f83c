#include "sim/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace millrace::sim {

std::string_view to_string(Place place) {
  constexpr std::array<std::string_view, 4> kNames{"ready", "delayed", "lease", "history"};
  return kNames[static_cast<std::size_t>(place)];
}

std::string_view to_string(WaitReason reason) {
  constexpr std::array<std::string_view, 6> kNames{"scheduled", "retrying",    "deferred",
                                                   "serial",    "concurrency", "dependency"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::uint64_t number_of(const Uuid& uuid) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i < 16; ++i) number = number << 8U | uuid.bytes[i];
  return number;
}

Uuid numbered(std::uint64_t space, std::uint64_t number) {
  Uuid uuid;
  for (std::size_t i = 0; i < 8; ++i) {
    uuid.bytes[7 - i] = static_cast<std::uint8_t>(space >> (8 * i));
    uuid.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return uuid;
}

JobStatus Job::status() const {
  switch (place) {
    case Place::ready:
      return JobStatus::pending;
    case Place::lease:
      return JobStatus::processing;
    case Place::history:
      return history.back().status;
    case Place::delayed:
      break;
  }
  if (reason == WaitReason::retrying) return JobStatus::retrying;
  return reason == WaitReason::deferred ? JobStatus::deferred : JobStatus::pending;
}

Model::Model(Policies policies, Random& random, ModelWatch& watch)
    : policies_(std::move(policies)), random_(random), watch_(watch) {
  for (const auto& limit : policies_.limits) limiters_.emplace_back(limit);
}

bool Model::hiccup() { return hiccups > 0 && random_.uniform() < hiccups; }

Job* Model::get(JobId id) {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &jobs_[found->second];
}

const Job* Model::find(JobId id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &jobs_[found->second];
}

bool Model::lives(JobId id, LeaseToken token) const {
  const auto* job = find(id);
  return job != nullptr && job->place == Place::lease && job->token == token;
}

bool Model::live(JobId id) const {
  const auto* job = find(id);
  return job != nullptr && job->place != Place::history;
}

Time Model::backoff_delay(const QueuePolicy& queue, int failures) {
  using Seconds = std::chrono::duration<double>;
  const double base = Seconds(queue.backoff_base).count() *
                      std::pow(queue.backoff_factor, std::min(failures - 1, 64));
  const double delay = std::min(Seconds(queue.backoff_cap).count(), base);
  const double factor =
      queue.jitter_low + (queue.jitter_high - queue.jitter_low) * random_.uniform();
  return std::chrono::round<Time>(Seconds(delay * factor));
}

// --- Enqueue ---

// As enqueue_specs and place_new, for one job.
bool Model::enqueue(const JobSpec& spec) {
  if (index_.contains(spec.id)) return false;
  Job job;
  job.id = spec.id;
  job.seq = next_seq_++;
  job.type = spec.type;
  job.queue = spec.queue.value_or(policies_.types[static_cast<std::size_t>(spec.type)].queue);
  job.priority = spec.priority.value_or(
      policies_.queues[static_cast<std::size_t>(job.queue)].priority_default);
  job.serial_key = spec.serial_key;
  job.concurrency_key = spec.concurrency_key;
  job.max_attempts = spec.max_attempts;
  job.run_timeout = spec.run_timeout;
  if (spec.start_within) job.fact_deadline = now_ + *spec.start_within;
  job.has_deadline = job.fact_deadline.has_value();
  job.start_deadline = job.fact_deadline;
  job.scheduled_at = now_ + spec.delay;
  job.fact_batch = spec.batch;
  job.batched = spec.batch.has_value();
  job.born_at = job.scheduled_at;
  if (spec.batch) ++batches_[static_cast<std::size_t>(*spec.batch)].total;
  for (const auto& id : spec.after) {
    dependencies_.push_back({.job = spec.id,
                             .depends_on = id,
                             .any = spec.after_any,
                             .failure_runs = spec.after_failure_runs});
  }
  if (!spec.after.empty()) {
    handoffs_.push_back({.kind = Handoff::Kind::dependency, .job = spec.id});
  }
  bool blocked = false;
  if (!spec.serial_key.empty()) {
    auto& members = members_[{job.queue, spec.serial_key}];
    blocked = !members.empty() && members.begin()->first < job.seq;
    members[job.seq] = spec.id;
    if (blocked) {
      handoffs_.push_back(
          {.kind = Handoff::Kind::key, .queue = job.queue, .wait_key = "s:" + spec.serial_key});
    }
  }
  const bool later = job.scheduled_at > now_;
  if (!spec.after.empty() || blocked || later) {
    job.place = Place::delayed;
    job.due_at = kForever;
    if (!spec.after.empty()) {
      job.reason = WaitReason::dependency;
    } else if (later) {
      job.reason = WaitReason::scheduled;
      job.due_at = job.scheduled_at;
    } else {
      job.reason = WaitReason::serial;
      job.wait_key = "s:" + spec.serial_key;
      job.wait_seq = job.seq;
    }
  } else {
    make_ready(job);
    job.in_lane = fits_a_lane(job);
  }
  index_[spec.id] = jobs_.size();
  const int queue = job.queue;
  jobs_.push_back(std::move(job));
  watch_.enqueued(jobs_.back());
  wake(queue);
  return true;
}

// Plain in every way.
bool Model::fits_a_lane(const Job& job) const {
  return job.serial_key.empty() && job.concurrency_key.empty() && !job.max_attempts &&
         !job.run_timeout && !job.fact_deadline && !job.fact_batch &&
         !policies_.queues[static_cast<std::size_t>(job.queue)].concurrency_max;
}

// Whoever acts on one job of a claim gives it a lease of its own, with a new place in line.
void Model::pin(Job& job) {
  if (job.claim == 0) return;
  job.claim = 0;
  job.ready_seq = next_ready_seq_++;
}

void Model::make_ready(Job& job) {
  job.place = Place::ready;
  job.ready_seq = next_ready_seq_++;
  job.ready_at = now_;
}

// promote_rows: delayed jobs go to the end of the line.
void Model::promote(std::vector<Job*> jobs) {
  std::ranges::sort(jobs, {}, [](const Job* job) {
    return std::tuple(!job->wait_key.empty(), job->wait_key.empty() ? 0 : job->wait_seq,
                      job->due_at, job->seq);
  });
  for (auto* job : jobs) {
    if (job->deliveries == 0) job->born_at = now_;
    job->wait_key.clear();
    make_ready(*job);
    wake(job->queue);
  }
}

void Model::wake(int queue) {
  if (armed_.erase(queue) > 0) watch_.notified();
}

void Model::order_ready(const std::vector<JobId>& ids) {
  std::vector<std::int64_t> places;
  for (const auto& id : ids) places.push_back(get(id)->ready_seq);
  std::ranges::sort(places);
  for (std::size_t i = 0; i < ids.size(); ++i) get(ids[i])->ready_seq = places[i];
}

int Model::open_batch(std::optional<JobSpec> callback) {
  batches_.push_back({.callback = std::move(callback)});
  return static_cast<int>(batches_.size()) - 1;
}

void Model::seal_batch(int batch) {
  batches_[static_cast<std::size_t>(batch)].sealed = true;
  handoffs_.push_back({.kind = Handoff::Kind::batch, .batch = batch});
}

// --- Operators ---

std::string Model::cancel(JobId id, const std::string& reason) {
  auto* job = get(id);
  if (job == nullptr) return "not_found";
  switch (job->place) {
    case Place::ready:
    case Place::delayed:
      end_unstarted(*job, "cancelled", reason);
      return "cancelled";
    case Place::lease:
      pin(*job);
      if (!job->cancel_reason) job->cancel_reason = reason;
      return "cancel_requested";
    case Place::history:
      break;
  }
  return "already_final";
}

std::string Model::redrive(JobId id) {
  auto* job = get(id);
  if (job == nullptr) return "not_found";
  if (job->place != Place::history || job->history.back().status != JobStatus::failed) {
    return "not_failed";
  }
  job->history.back().redriven = true;
  if (!job->serial_key.empty()) members_[{job->queue, job->serial_key}][job->seq] = id;
  ++job->generation;
  job->attempt = 0;
  job->deliveries = 0;
  job->crashes = 0;
  job->suspects = 0;
  job->snoozes = 0;
  job->batched = false;
  job->has_deadline = false;
  job->has_carry = false;
  job->start_deadline.reset();
  job->born_at = now_;
  job->place = Place::delayed;
  job->reason = WaitReason::scheduled;
  job->due_at = now_;
  job->wait_key.clear();
  watch_.redriven(*job);
  return "redriven";
}

std::string Model::run_now(JobId id) {
  auto* job = get(id);
  if (job == nullptr) return "not_found";
  if (job->place == Place::delayed &&
      (job->reason == WaitReason::scheduled || job->reason == WaitReason::retrying ||
       job->reason == WaitReason::deferred)) {
    promote({job});
    return "ready";
  }
  switch (job->place) {
    case Place::ready:
      return "ready";
    case Place::delayed:
      return "delayed";
    case Place::lease:
      return "leased";
    case Place::history:
      break;
  }
  return "final";
}

// --- Processes ---

Result<Uuid> Model::register_worker(const std::string& worker_id, const store::WorkerInfo& info) {
  const bool taken =
      std::ranges::any_of(workers_, [&](const auto& row) { return row.worker_id == worker_id; });
  if (taken) return fail(ErrorKind::invalid_argument, "worker is already registered");
  workers_.push_back({.worker_id = worker_id,
                      .process = random_.uuid(),
                      .supervisor_id = info.supervisor_id,
                      .lease = info.lease,
                      .lease_until = now_ + info.lease});
  return workers_.back().process;
}

store::BeatAnswer Model::beat_worker(const store::WorkerKey& worker) {
  store::BeatAnswer answer;
  for (auto& row : workers_) {
    if (row.worker_id != worker.worker_id || row.process != worker.process) continue;
    row.lease_until = now_ + row.lease;
    answer.alive = true;
    answer.lease = std::chrono::duration_cast<std::chrono::milliseconds>(row.lease);
  }
  if (!answer.alive) return answer;
  for (const auto& job : jobs_) {
    if (job.place == Place::lease && job.process == worker.process && job.cancel_reason) {
      answer.cancel.push_back({.id = job.id, .token = job.token, .reason = *job.cancel_reason});
    }
    if (job.place == Place::ready && job.suspect()) ++answer.suspects;
  }
  return answer;
}

int Model::retire_worker(const store::WorkerKey& worker) {
  const int count = hand_back(worker);
  std::erase_if(workers_, [&](const WorkerRow& row) {
    return row.worker_id == worker.worker_id && row.process == worker.process;
  });
  return count;
}

std::vector<store::HeldLease> Model::unheld_leases(const store::WorkerKey& worker,
                                                   const std::vector<LeaseToken>& held) const {
  std::vector<store::HeldLease> unheld;
  for (const auto& job : jobs_) {
    if (job.place != Place::lease || job.process != worker.process) continue;
    if (std::ranges::find(held, job.token) != held.end()) continue;
    unheld.push_back({.id = job.id, .token = job.token});
  }
  return unheld;
}

int Model::hand_back_process(const std::string& supervisor_id, const std::string& worker_id) {
  const auto row = std::ranges::find_if(workers_, [&](const WorkerRow& candidate) {
    return candidate.worker_id == worker_id && candidate.supervisor_id == supervisor_id;
  });
  if (row == workers_.end()) return 0;
  const auto process = row->process;
  workers_.erase(row);
  note_death(process);
  std::vector<Job*> lost;
  for (auto& job : jobs_) {
    if (job.place == Place::lease && job.process == process) lost.push_back(&job);
  }
  const int count = reclaim_leases(lost, true, true);
  std::erase_if(
      lost, [this](const Job* job) { return job->place != Place::delayed || job->due_at > now_; });
  promote(std::move(lost));
  return count;
}

}  // namespace millrace::sim
