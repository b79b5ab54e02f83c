// The model's claim, after claim_core, claim_group and judge_keys.
#include "sim/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace millrace::sim {

namespace {

constexpr std::string_view kLaneMark = "lane:";
constexpr std::string_view kTenant = "00000000-0000-0000-0000-000000000000";

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

// The groups (type, priority) and lanes of the queue that have ready jobs, the first to be served
// first.
std::vector<Model::Group> Model::claim_groups(const store::ClaimRequest& request, int queue) const {
  const auto wanted = [&](const Job& job) {
    if (job.place != Place::ready || job.queue != queue) return false;
    const auto& type = policies_.types[static_cast<std::size_t>(job.type)];
    return std::ranges::find(request.job_types, type.name) != request.job_types.end();
  };
  std::vector<Group> groups;
  const auto add = [&](int type, int priority, std::int64_t mark, bool lane) {
    const Job* head = nullptr;
    for (const auto& job : jobs_) {
      if (!wanted(job) || job.type != type || job.priority != priority || job.ready_seq <= mark ||
          job.in_lane != lane) {
        continue;
      }
      if (head == nullptr || job.ready_seq < head->ready_seq) head = &job;
    }
    if (head == nullptr) return;
    groups.push_back({.type = type,
                      .priority = priority,
                      .lane = lane,
                      .mark = mark,
                      .ready_at = head->ready_at});
  };
  if (request.alone) {
    std::vector<const Job*> suspects;
    for (const auto& job : jobs_) {
      if (wanted(job) && job.suspect()) suspects.push_back(&job);
    }
    std::ranges::sort(suspects, {}, &Job::ready_seq);
    for (const auto* job : suspects) add(job->type, job->priority, job->ready_seq - 1, false);
  } else if (request.marks) {
    for (const auto& [key, mark] : *request.marks) {
      const bool lane = key.starts_with(kLaneMark);
      const auto group = std::string_view(key).substr(lane ? kLaneMark.size() : 0);
      add(static_cast<int>(number(group.substr(0, group.find(':')))),
          static_cast<int>(number(group.substr(group.rfind(':') + 1))), mark, lane);
    }
  } else {
    for (const auto& job : jobs_) {
      const bool known = std::ranges::any_of(groups, [&](const Group& group) {
        return group.type == job.type && group.priority == job.priority &&
               group.lane == job.in_lane;
      });
      if (!known && wanted(job)) add(job.type, job.priority, 0, job.in_lane);
    }
  }
  const auto& age_step = policies_.queues[static_cast<std::size_t>(queue)].age_step;
  for (auto& group : groups) {
    group.effective = group.priority;
    if (!age_step) continue;
    auto steps = (now_ - group.ready_at).count() / age_step->count();
    group.effective += steps;
  }
  std::ranges::sort(groups, {}, [](const Group& group) {
    return std::tuple(-group.effective, group.ready_at, group.type, group.priority, group.lane,
                      group.mark);
  });
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    groups[i].next_effective = groups[i + 1].effective;
  }
  return groups;
}

Result<std::vector<ClaimedJob>> Model::claim_jobs(const store::ClaimRequest& request) {
  const auto queue = std::ranges::find(policies_.queues, request.queue, &QueuePolicy::name);
  if (queue == policies_.queues.end()) return fail(ErrorKind::not_found, "queue does not exist");
  const bool registered = std::ranges::any_of(workers_, [&](const WorkerRow& row) {
    return row.worker_id == request.worker.worker_id && row.process == request.worker.process;
  });
  if (!registered) return fail(ErrorKind::lease_lost, "worker is not registered");
  Claim claim{.request = &request, .queue = static_cast<int>(queue - policies_.queues.begin())};
  auto groups = claim_groups(request, claim.queue);
  const int limit = request.alone ? 1 : request.limit;
  std::vector<Job*> taken;
  std::set<int> closed;
  std::set<int> locked;
  for (int round = 1; round <= 2; ++round) {
    for (auto& group : groups) {
      const int left = limit - static_cast<int>(taken.size());
      if (left <= 0) break;
      const auto provider = policies_.types[static_cast<std::size_t>(group.type)].provider;
      if (group.dry || (provider && closed.contains(*provider))) continue;
      if (provider && locked.insert(*provider).second && hiccup()) {
        closed.insert(*provider);
        continue;
      }
      claim.cutoff = kForever;
      if (round == 1 && queue->age_step && group.next_effective > group.priority) {
        claim.cutoff = now_ - (*group.next_effective - group.priority) * *queue->age_step;
      }
      const auto batch = claim_group(claim, group, left);
      if (claim.cutoff == kForever && static_cast<int>(batch.size()) < left) group.dry = true;
      taken.insert(taken.end(), batch.begin(), batch.end());
      if (request.alone && !taken.empty()) break;
    }
    if (request.alone && !taken.empty()) break;
  }
  std::vector<ClaimedJob> result;
  result.reserve(taken.size());
  for (const auto* job : taken) result.push_back(claimed(*job));
  if (std::ssize(taken) < limit && !request.marks && !request.alone) armed_.insert(claim.queue);
  return result;
}

std::vector<Job*> Model::claim_group(const Claim& claim, const Group& group, int limit) {
  const auto& queue = policies_.queues[static_cast<std::size_t>(claim.queue)];
  const auto provider = policies_.types[static_cast<std::size_t>(group.type)].provider;
  if (queue.concurrency_max) {
    const auto leased = std::ranges::count_if(jobs_, [&](const Job& job) {
      return job.place == Place::lease && job.queue == claim.queue;
    });
    limit = std::min(limit, *queue.concurrency_max - static_cast<int>(leased));
  }
  if (provider) {
    limit =
        std::min(limit, limiters_[static_cast<std::size_t>(*provider)].room(
                            now_, [this](JobId id, LeaseToken token) { return lives(id, token); }));
  }
  if (limit <= 0) return {};
  if (group.lane && hiccup()) return {};  // Another reads it.

  // What makes way for others, late or with a busy key, does not hold up what stands behind it.
  const int room = limit;
  auto mark = group.mark;
  std::vector<Job*> leased;
  for (int round = 0; round < 100 && limit > 0; ++round) {
    const auto candidates = claim_candidates(claim, group, mark, limit);
    if (candidates.empty()) break;
    mark = candidates.back()->ready_seq;
    lease_candidates(candidates, claim, leased);
    if (static_cast<int>(candidates.size()) < limit) break;
    limit = room - static_cast<int>(leased.size());
  }
  if (group.lane && !leased.empty()) {
    ++last_claim_;
    for (auto* job : leased) job->claim = last_claim_;
  }
  if (provider) {
    for (const auto* job : leased) {
      limiters_[static_cast<std::size_t>(*provider)].take(now_, job->id, job->token);
      watch_.granted(*provider);
    }
  }
  return leased;
}

std::vector<Job*> Model::claim_candidates(const Claim& claim, const Group& group, std::int64_t mark,
                                          int limit) {
  std::vector<Job*> candidates;
  for (auto& job : jobs_) {
    if (job.place == Place::ready && job.queue == claim.queue && job.type == group.type &&
        job.priority == group.priority && job.ready_seq > mark && job.ready_at <= claim.cutoff &&
        job.suspect() == claim.request->alone && job.in_lane == group.lane &&
        (group.lane || !hiccup())) {
      candidates.push_back(&job);
    }
  }
  std::ranges::sort(candidates, {}, &Job::ready_seq);
  if (candidates.size() > static_cast<std::size_t>(limit)) {
    candidates.resize(static_cast<std::size_t>(limit));
  }
  return candidates;
}

void Model::lease_candidates(const std::vector<Job*>& candidates, const Claim& claim,
                             std::vector<Job*>& leased) {
  const auto& queue = policies_.queues[static_cast<std::size_t>(claim.queue)];
  const auto before = static_cast<std::ptrdiff_t>(leased.size());
  std::vector<Job*> keyed;
  for (auto* job : candidates) {
    if (job->start_deadline && *job->start_deadline <= now_) {
      end_unstarted(*job, "permanent", "expired");
    } else if (!job->serial_key.empty() ||
               (!job->concurrency_key.empty() && queue.key_concurrency_max)) {
      keyed.push_back(job);
    } else {
      lease(*job, job->concurrency_key.empty() ? "" : "c:" + job->concurrency_key, claim);
      leased.push_back(job);
    }
  }
  for (auto* job : keyed) {
    const auto key = job->serial_key.empty() ? "c:" + job->concurrency_key : "s:" + job->serial_key;
    switch (judge_key(*job, key)) {
      case Verdict::run:
        lease(*job, key, claim);
        leased.push_back(job);
        break;
      case Verdict::park:
        job->place = Place::delayed;
        job->reason = job->serial_key.empty() ? WaitReason::concurrency : WaitReason::serial;
        job->due_at = kForever;
        job->wait_key = key;
        job->wait_seq = job->seq;
        break;
      case Verdict::skip:
        break;
    }
  }
  std::ranges::sort(leased.begin() + before, leased.end(), {}, &Job::ready_seq);
}

Model::Verdict Model::judge_key(const Job& job, const std::string& key) {
  if (hiccup()) return Verdict::skip;
  const auto running = std::ranges::count_if(jobs_, [&](const Job& other) {
    return other.place == Place::lease && other.queue == job.queue && other.lease_key == key;
  });
  if (key.starts_with("s:")) {
    const auto& members = members_[{job.queue, job.serial_key}];
    const bool first = members.empty() || members.begin()->first >= job.seq;
    return running == 0 && first ? Verdict::run : Verdict::park;
  }
  const auto most = policies_.queues[static_cast<std::size_t>(job.queue)].key_concurrency_max;
  return running >= *most ? Verdict::park : Verdict::run;
}

void Model::lease(Job& job, const std::string& key, const Claim& claim) {
  const auto& queue = policies_.queues[static_cast<std::size_t>(job.queue)];
  const auto& type = policies_.types[static_cast<std::size_t>(job.type)];
  job.place = Place::lease;
  job.in_lane = false;
  ++job.deliveries;
  job.token = LeaseToken{numbered(2, next_token_++)};
  job.worker_id = claim.request->worker.worker_id;
  job.process = claim.request->worker.process;
  job.alone = claim.request->alone;
  job.lease_key = key;
  job.leased_at = now_;
  job.lease_until =
      now_ + job.run_timeout.value_or(type.run_timeout.value_or(queue.run_timeout)) + queue.lease;
  job.cancel_reason.reset();
  watch_.leased(job);
}

ClaimedJob Model::claimed(const Job& job) const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto& queue = policies_.queues[static_cast<std::size_t>(job.queue)];
  const auto& type = policies_.types[static_cast<std::size_t>(job.type)];
  ClaimedJob result;
  result.id = job.id;
  result.token = job.token;
  result.queue = queue.name;
  result.job_type = type.name;
  result.priority = job.priority;
  result.attempt = job.attempt + 1;
  result.max_attempts = job.max_attempts.value_or(type.max_attempts.value_or(queue.max_attempts));
  result.delivery_count = job.deliveries;
  result.generation = job.generation;
  result.run_timeout = duration_cast<milliseconds>(
      job.run_timeout.value_or(type.run_timeout.value_or(queue.run_timeout)));
  result.lease = duration_cast<milliseconds>(job.lease_until - job.leased_at);
  result.serial_key = job.serial_key;
  if (job.has_carry) result.carry_json = job.carry;
  result.alone = job.alone;
  result.mark = job.claim != 0
                    ? fmt::format("{}{}:{}:0", kLaneMark, job.type, job.priority)
                    : fmt::format("{}:{}:{}:{}", job.type, kTenant, job.priority, job.ready_seq);
  return result;
}

}  // namespace millrace::sim
