// The keeper's duties in the model.
#include "sim/model.h"

#include <algorithm>
#include <tuple>

namespace millrace::sim {

bool Model::elect(const std::string& duty, const std::string& holder, Time ttl) {
  const auto [row, fresh] = duties_.try_emplace(duty, Duty{holder, now_ + ttl});
  if (fresh) return true;
  if (row->second.holder != holder && row->second.lease_until >= now_) return false;
  row->second = {.holder = holder, .lease_until = now_ + ttl};
  return true;
}

void Model::resign(const std::string& duty, const std::string& holder) {
  const auto row = duties_.find(duty);
  if (row != duties_.end() && row->second.holder == holder) duties_.erase(row);
}

int Model::reclaim(int limit) {
  std::erase_if(workers_, [&](const WorkerRow& row) {
    if (row.lease_until >= now_) return false;
    note_death(row.process);
    return true;
  });
  std::vector<Job*> lost;
  for (auto& job : jobs_) {
    if (job.place != Place::lease) continue;
    const bool alive = std::ranges::any_of(
        workers_, [&](const WorkerRow& row) { return row.process == job.process; });
    if (!alive && static_cast<int>(lost.size()) < limit && !hiccup()) lost.push_back(&job);
  }
  std::ranges::sort(lost, {}, &Job::id);
  const int count = reclaim_leases(lost, true);
  lost.clear();
  for (auto& job : jobs_) {
    if (job.place == Place::lease && job.lease_until < now_ && !hiccup()) lost.push_back(&job);
  }
  std::ranges::sort(lost, {}, [](const Job* job) { return std::pair(job->lease_until, job->seq); });
  if (static_cast<int>(lost.size()) > limit - count) {
    lost.resize(static_cast<std::size_t>(limit - count));
  }
  return count + reclaim_leases(lost, false);
}

int Model::promote_due(int limit) {
  std::vector<Job*> due;
  for (auto& job : jobs_) {
    if (job.place == Place::delayed && job.due_at <= now_ && !hiccup()) due.push_back(&job);
  }
  std::ranges::sort(due, {}, [](const Job* job) { return std::pair(job->due_at, job->seq); });
  if (due.size() > static_cast<std::size_t>(limit)) due.resize(static_cast<std::size_t>(limit));
  const auto count = static_cast<int>(due.size());
  promote(std::move(due));
  return count;
}

int Model::advance(int limit) {
  std::vector<Handoff> notes;
  const auto most = std::min(handoffs_.size(), static_cast<std::size_t>(limit));
  notes.assign(handoffs_.begin(), handoffs_.begin() + static_cast<std::ptrdiff_t>(most));
  handoffs_.erase(handoffs_.begin(), handoffs_.begin() + static_cast<std::ptrdiff_t>(most));
  const auto handled = static_cast<int>(notes.size());
  const auto what = [](const Handoff& note) {
    return std::tuple(note.kind == Handoff::Kind::batch, note.kind == Handoff::Kind::dependency,
                      note.queue, note.wait_key, note.job, note.batch);
  };
  std::ranges::sort(notes, {}, what);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    while (i + 1 < notes.size() && what(notes[i + 1]) == what(notes[i])) {
      notes[i + 1].completed += notes[i].completed;
      notes[i + 1].failed += notes[i].failed;
      notes[i + 1].cancelled += notes[i].cancelled;
      ++i;
    }
    switch (notes[i].kind) {
      case Handoff::Kind::dependency:
        advance_dependent(notes[i].job);
        break;
      case Handoff::Kind::key:
        advance_key(notes[i].queue, notes[i].wait_key);
        break;
      case Handoff::Kind::batch:
        advance_batch(notes[i]);
        break;
    }
  }
  return handled;
}

void Model::advance_dependent(JobId id) {
  auto* job = get(id);
  const auto mine = [&](const Dependency& dependency) { return dependency.job == id; };
  if (job->place != Place::delayed || job->reason != WaitReason::dependency) {
    std::erase_if(dependencies_, mine);
    return;
  }
  if (hiccup()) {
    handoffs_.push_back({.kind = Handoff::Kind::dependency, .job = id});
    return;
  }
  int total = 0;
  int good = 0;
  int bad = 0;
  bool any = false;
  bool failure_runs = false;
  for (const auto& dependency : dependencies_) {
    if (!mine(dependency)) continue;
    ++total;
    any = dependency.any;
    failure_runs = dependency.failure_runs;
    const auto* other = find(dependency.depends_on);
    if (other->place != Place::history) continue;
    ++(other->history.back().status == JobStatus::completed ? good : bad);
  }
  if (failure_runs) {
    good += bad;
    bad = 0;
  }
  if ((!any && bad > 0) || (any && good == 0 && bad == total && total > 0)) {
    std::erase_if(dependencies_, mine);
    cancel(id, "prerequisite did not complete");
  } else if (total == 0 || (!any && good == total) || (any && good > 0)) {
    std::erase_if(dependencies_, mine);
    if (job->scheduled_at > now_) {
      job->reason = WaitReason::scheduled;
      job->due_at = job->scheduled_at;
    } else {
      promote({job});
    }
  }
}

void Model::advance_batch(const Handoff& note) {
  auto& batch = batches_[static_cast<std::size_t>(note.batch)];
  batch.completed += note.completed;
  batch.failed += note.failed;
  batch.cancelled += note.cancelled;
  if (!batch.sealed || batch.finished ||
      batch.completed + batch.failed + batch.cancelled < batch.total) {
    return;
  }
  batch.finished = true;
  if (batch.callback) enqueue(*batch.callback);
}

int Model::expire_waiting(int limit) {
  std::vector<Job*> late;
  for (auto& job : jobs_) {
    if ((job.place == Place::ready || job.place == Place::delayed) && job.start_deadline &&
        *job.start_deadline <= now_ && !hiccup()) {
      late.push_back(&job);
    }
  }
  for (auto* job : late) end_unstarted(*job, "permanent", "expired");
  recheck_blocked(limit);
  return static_cast<int>(late.size());
}

int Model::expire_slots(int) {
  int swept = 0;
  for (auto& limiter : limiters_) {
    swept += limiter.sweep([this](JobId id, LeaseToken token) { return lives(id, token); });
  }
  return swept;
}

// Jobs that wait although nothing holds them back any more get their note again.
void Model::recheck_blocked(int) {
  std::set<std::pair<int, std::string>> keys;
  for (const auto& job : jobs_) {
    if (job.place == Place::delayed && !job.wait_key.empty()) keys.emplace(job.queue, job.wait_key);
  }
  for (const auto& [queue, key] : keys) {
    const auto running = std::ranges::count_if(jobs_, [&](const Job& job) {
      return job.place == Place::lease && job.queue == queue && job.lease_key == key;
    });
    if (key.starts_with("s:")) {
      const auto& members = members_[{queue, key.substr(2)}];
      if (running > 0 || members.empty()) continue;
      const auto* head = find(members.begin()->second);
      if (head->place != Place::delayed || head->reason != WaitReason::serial) continue;
    } else {
      const auto most = policies_.queues[static_cast<std::size_t>(queue)].key_concurrency_max;
      if (most && running >= *most) continue;
    }
    handoffs_.push_back({.kind = Handoff::Kind::key, .queue = queue, .wait_key = key});
  }
  std::set<JobId> dependents;
  for (const auto& dependency : dependencies_) {
    const bool all_ended = std::ranges::none_of(dependencies_, [&](const Dependency& other) {
      return other.job == dependency.job && live(other.depends_on);
    });
    if (!live(dependency.depends_on) && (dependency.any || all_ended)) {
      dependents.insert(dependency.job);
    }
  }
  for (const auto& id : dependents) {
    handoffs_.push_back({.kind = Handoff::Kind::dependency, .job = id});
  }
}

}  // namespace millrace::sim
