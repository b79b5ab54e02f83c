// The model itself; compiled into the test program only.
#include "worker/fake_job_store.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace millrace::worker::test {

Uuid FakeJobStore::next_uuid() {
  ++last_uuid_;
  Uuid uuid;
  for (std::size_t i = 0; i < 8; ++i) {
    uuid.bytes[15 - i] = static_cast<std::uint8_t>(last_uuid_ >> (8 * i));
  }
  return uuid;
}

JobId FakeJobStore::add(std::string job_type, std::string queue) {
  ClaimedJob job;
  job.id = JobId{next_uuid()};
  job.job_type = std::move(job_type);
  job.queue = queue;
  job.run_timeout = run_timeout;
  job.lease = job_lease;
  job.mark = "1:t:5:" + std::to_string(last_uuid_);
  ready[queue].push_back(job);
  return job.id;
}

void FakeJobStore::declare_dead(bool forget_process) {
  for (auto& [id, lease] : leases) ready[lease.job.queue].push_back(lease.job);
  leases.clear();
  if (forget_process) processes.clear();
}

std::vector<FakeJobStore::Ended> FakeJobStore::ended_as(Outcome::Kind kind) const {
  std::vector<Ended> result;
  for (const auto& end : ended) {
    if (end.outcome.kind == kind) result.push_back(end);
  }
  return result;
}

const FakeJobStore::Ended* FakeJobStore::end_of(JobId id) const {
  for (const auto& end : ended | std::views::reverse) {
    if (end.id == id) return &end;
  }
  return nullptr;
}

awaitable<void> FakeJobStore::wait_at(std::string name) {
  const auto gate = gates.find(name);
  if (gate == gates.end()) co_return;
  const auto event = gate->second;
  co_await event.wait();
}

Task<bool> FakeJobStore::enter(std::string name) {
  ++calls[name];
  co_await wait_at(name);
  auto& wrong = trouble[name];
  if (wrong.calls == 0) co_return false;
  --wrong.calls;
  if (wrong.lost_answer) co_return true;
  co_return fail(wrong.error);
}

Task<void> FakeJobStore::ensure_job_types(std::vector<std::string>, std::string) {
  MR_CO_TRY_VOID(co_await enter("ensure_job_types"));
  co_return ok();
}

Task<Uuid> FakeJobStore::register_worker(std::string worker_id, store::WorkerInfo) {
  MR_CO_TRY_VOID(co_await enter("register_worker"));
  workers.push_back(worker_id);
  const auto process = next_uuid();
  processes.insert(process);
  co_return process;
}

Task<store::BeatAnswer> FakeJobStore::beat_worker(store::WorkerKey worker, store::BeatInfo info) {
  MR_CO_TRY_VOID(co_await enter("beat_worker"));
  last_running = info.running;
  last_draining = info.draining;
  store::BeatAnswer answer;
  answer.alive = processes.contains(worker.process);
  answer.lease = lease_answer;
  answer.cancel = cancel_requests;
  answer.suspects = static_cast<int>(suspects.size());
  answer.limited = limited;
  co_return answer;
}

int FakeJobStore::give_back(const Uuid& process) {
  int count = 0;
  for (auto it = leases.begin(); it != leases.end();) {
    if (it->second.process == process) {
      ready[it->second.job.queue].push_back(it->second.job);
      it = leases.erase(it);
      ++count;
    } else {
      ++it;
    }
  }
  return count;
}

Task<int> FakeJobStore::retire_worker(store::WorkerKey worker) {
  MR_CO_TRY_VOID(co_await enter("retire_worker"));
  processes.erase(worker.process);
  const int returned = give_back(worker.process);
  co_await wait_at("retire_worker answer");
  co_return returned;
}

Task<std::vector<store::HeldLease>> FakeJobStore::unheld_leases(store::WorkerKey worker,
                                                                std::vector<LeaseToken> held) {
  MR_CO_TRY_VOID(co_await enter("unheld_leases"));
  std::vector<store::HeldLease> unheld;
  for (const auto& [id, lease] : leases) {
    const auto token = lease.job.token;
    if (lease.process != worker.process || std::ranges::find(held, token) != held.end()) continue;
    unheld.push_back({.id = id, .token = token});
  }
  co_await wait_at("unheld_leases answer");
  co_return unheld;
}

Task<int> FakeJobStore::hand_back_process(std::string supervisor_id, std::string worker_id) {
  MR_CO_TRY_VOID(co_await enter("hand_back_process"));
  handed_back.emplace_back(std::move(supervisor_id), std::move(worker_id));
  co_return 0;
}

Task<std::vector<ClaimedJob>> FakeJobStore::claim_jobs(store::ClaimRequest request) {
  claims.push_back(request);
  MR_CO_TRY(const auto lost, co_await enter("claim_jobs"));
  if (!processes.contains(request.worker.process)) {
    co_return fail(ErrorKind::lease_lost, "worker is not registered");
  }
  if (unknown_queues.contains(request.queue)) co_return fail(ErrorKind::not_found, "no queue");
  std::vector<ClaimedJob> result;
  auto& from = request.alone ? suspects : ready[request.queue];
  for (auto it = from.begin();
       it != from.end() && static_cast<int>(result.size()) < request.limit;) {
    const auto& types = request.job_types;
    if (std::ranges::find(types, it->job_type) == types.end()) {
      ++it;
      continue;
    }
    auto job = *it;
    it = from.erase(it);
    job.token = LeaseToken{next_uuid()};
    ++job.delivery_count;
    job.alone = request.alone;
    leases[job.id] = {
        .job = job, .process = request.worker.process, .worker_id = request.worker.worker_id};
    result.push_back(std::move(job));
  }
  co_await wait_at("claim_jobs answer");
  if (lost) co_return fail(ErrorKind::in_doubt, "the answer was lost");
  co_return result;
}

Task<std::vector<store::ExtendAnswer>> FakeJobStore::extend_leases(
    std::string, std::vector<store::HeldLease> held, std::chrono::milliseconds) {
  MR_CO_TRY_VOID(co_await enter("extend_leases"));
  std::vector<store::ExtendAnswer> answers;
  for (const auto& lease : held) {
    const auto found = leases.find(lease.id);
    const bool mine = found != leases.end() && found->second.job.token == lease.token;
    answers.push_back({.id = lease.id,
                       .extended = mine,
                       .cancel_requested = mine && cancel_on_extend.contains(lease.id)});
  }
  co_return answers;
}

Answer FakeJobStore::settle_one(const std::string& worker_id, Settlement settlement,
                                std::vector<SqlStatement> statements) {
  const auto found = leases.find(settlement.id);
  const bool mine = found != leases.end() && found->second.job.token == settlement.token &&
                    found->second.worker_id == worker_id;
  if (!mine) {
    const bool before =
        std::ranges::any_of(ended, [&](const Ended& end) { return end.token == settlement.token; });
    return before ? Answer::already_settled : Answer::lease_lost;
  }
  if (settlement.outcome.kind == Outcome::Kind::handback) {
    ready[found->second.job.queue].push_back(found->second.job);
  }
  leases.erase(found);
  ended.push_back({.id = settlement.id,
                   .token = settlement.token,
                   .outcome = std::move(settlement.outcome),
                   .logs = std::move(settlement.logs),
                   .statements = std::move(statements)});
  return Answer::settled;
}

Task<std::vector<JobAnswer>> FakeJobStore::settle(std::string worker_id,
                                                  std::vector<Settlement> settlements) {
  settle_sizes.push_back(settlements.size());
  MR_CO_TRY(const auto lost, co_await enter("settle"));
  for (const auto& settlement : settlements) {
    const bool bad = refuse.contains(settlement.id) && settlement.outcome.kind == Outcome::Kind::ok;
    if (bad || refuse_all || (refuse_logs && !settlement.logs.empty())) {
      co_return fail(ErrorKind::invalid_argument, "unsupported Unicode escape sequence");
    }
  }
  std::vector<JobAnswer> answers;
  for (auto& settlement : settlements) {
    const auto id = settlement.id;
    answers.push_back({.id = id, .answer = settle_one(worker_id, std::move(settlement), {})});
  }
  if (lost) co_return fail(ErrorKind::in_doubt, "the answer was lost");
  co_return answers;
}

Task<Answer> FakeJobStore::settle_with(std::string worker_id, Settlement settlement,
                                       std::vector<SqlStatement> statements) {
  MR_CO_TRY(const auto lost, co_await enter("settle_with"));
  for (const auto& step : settlement.steps) {
    progress.push_back({.id = settlement.id,
                        .token = settlement.token,
                        .percent = step.percent,
                        .message = step.message,
                        .data_json = step.data_json});
  }
  const auto answer = settle_one(worker_id, std::move(settlement), std::move(statements));
  if (lost) co_return fail(ErrorKind::in_doubt, "the answer was lost");
  co_return answer;
}

Task<std::vector<store::ProgressAnswer>> FakeJobStore::report_progress(
    std::string, std::vector<store::ProgressItem> items) {
  MR_CO_TRY_VOID(co_await enter("report_progress"));
  std::vector<store::ProgressAnswer> answers;
  for (const auto& item : items) {
    progress.push_back(item);
    const bool cancel = std::ranges::any_of(
        cancel_requests, [&](const auto& request) { return request.id == item.id; });
    answers.push_back({.id = item.id, .held = true, .cancel_requested = cancel});
  }
  co_return answers;
}

Task<int> FakeJobStore::append_logs(std::string, std::vector<store::JobLogItem> items) {
  MR_CO_TRY_VOID(co_await enter("append_logs"));
  int kept = 0;
  for (const auto& item : items) {
    if (!leases.contains(item.id)) continue;
    logs.push_back(item);
    ++kept;
  }
  co_return kept;
}

}  // namespace millrace::worker::test
