#include "failnth/shared_ledger.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <sys/mman.h>

namespace millrace::test {
namespace {

JobId id_of(std::size_t position) {
  JobId id;
  id.value.bytes[15] = static_cast<std::uint8_t>(position + 1);
  return id;
}

std::size_t position_of(const JobId& id) { return id.value.bytes[15] - 1U; }

}  // namespace

SharedLedger::SharedLedger() {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  shared_ = new (memory) Shared();
}

SharedLedger::~SharedLedger() { ::munmap(shared_, sizeof(Shared)); }

void SharedLedger::begin() {
  *shared_ = Shared();
  for (std::size_t i = 0; i < kJobs; ++i) shared_->jobs[i].kind = static_cast<int>(i);
}

void SharedLedger::reclaim() {
  shared_->registered = false;
  shared_->retired = false;
  for (auto& job : shared_->jobs) {
    if (job.place == Place::lease) job.place = Place::ready;
  }
}

bool SharedLedger::all_ended() const {
  return std::ranges::all_of(shared_->jobs,
                             [](const Job& job) { return job.place == Place::ended; });
}

Task<void> SharedLedger::ensure_job_types(std::vector<std::string>, std::string) { co_return ok(); }

Task<Uuid> SharedLedger::register_worker(std::string, store::WorkerInfo) {
  shared_->registered = true;
  Uuid process;
  process.bytes[0] = 0x77;
  co_return process;
}

Task<store::BeatAnswer> SharedLedger::beat_worker(store::WorkerKey, store::BeatInfo) {
  store::BeatAnswer answer;
  answer.alive = shared_->registered;
  co_return answer;
}

Task<int> SharedLedger::retire_worker(store::WorkerKey) {
  shared_->registered = false;
  shared_->retired = true;
  int returned = 0;
  for (auto& job : shared_->jobs) {
    if (job.place != Place::lease) continue;
    job.place = Place::ready;
    ++returned;
  }
  co_return returned;
}

Task<std::vector<store::HeldLease>> SharedLedger::unheld_leases(store::WorkerKey,
                                                                std::vector<LeaseToken> held) {
  std::vector<store::HeldLease> unheld;
  for (std::size_t i = 0; i < kJobs; ++i) {
    const auto& job = shared_->jobs[i];
    const LeaseToken token{job.token};
    if (job.place != Place::lease || std::ranges::find(held, token) != held.end()) continue;
    unheld.push_back({.id = id_of(i), .token = token});
  }
  co_return unheld;
}

Task<int> SharedLedger::hand_back_process(std::string, std::string) { co_return 0; }

// The lease is taken before the answer is built: an answer that is lost on the way is what a dead
// process leaves behind.
Task<std::vector<ClaimedJob>> SharedLedger::claim_jobs(store::ClaimRequest request) {
  std::vector<ClaimedJob> answer;
  for (std::size_t i = 0; i < kJobs && std::cmp_less(answer.size(), request.limit); ++i) {
    auto& job = shared_->jobs[i];
    if (request.alone || job.place != Place::ready) continue;
    job.place = Place::lease;
    ++job.deliveries;
    job.token = {};
    job.token.bytes[0] = ++shared_->tokens;
    ClaimedJob claimed;
    claimed.id = id_of(i);
    claimed.token = LeaseToken{job.token};
    claimed.queue = request.queue;
    claimed.job_type = kJobTypes[i];
    claimed.payload_json = R"({"a payload": "that is long enough to need the heap"})";
    claimed.lease = std::chrono::minutes(10);
    answer.push_back(std::move(claimed));
  }
  co_return answer;
}

Task<std::vector<store::ExtendAnswer>> SharedLedger::extend_leases(
    std::string, std::vector<store::HeldLease> leases, std::chrono::milliseconds) {
  std::vector<store::ExtendAnswer> answers;
  for (const auto& lease : leases) answers.push_back({.id = lease.id, .extended = true});
  co_return answers;
}

Answer SharedLedger::settle_one(const Settlement& settlement, int statements) {
  auto& job = shared_->jobs[position_of(settlement.id)];
  if (job.token != settlement.token.value || job.place == Place::ready) {
    ++job.stale;
    return Answer::lease_lost;
  }
  if (job.place == Place::ended) return Answer::already_settled;
  if (settlement.outcome.kind == Outcome::Kind::handback) {
    job.place = Place::ready;
    return Answer::settled;
  }
  job.place = Place::ended;
  job.succeeded = settlement.outcome.succeeded();
  ++job.settlements;
  job.effects += statements;
  return Answer::settled;
}

Task<std::vector<JobAnswer>> SharedLedger::settle(std::string,
                                                  std::vector<Settlement> settlements) {
  std::vector<JobAnswer> answers;
  for (const auto& settlement : settlements) {
    answers.push_back({.id = settlement.id, .answer = settle_one(settlement, 0)});
  }
  co_return answers;
}

Task<Answer> SharedLedger::settle_with(std::string, Settlement settlement,
                                       std::vector<SqlStatement> statements) {
  co_return settle_one(settlement, static_cast<int>(statements.size()));
}

Task<std::vector<store::ProgressAnswer>> SharedLedger::report_progress(
    std::string, std::vector<store::ProgressItem> items) {
  std::vector<store::ProgressAnswer> answers;
  for (const auto& item : items) answers.push_back({.id = item.id, .held = true});
  co_return answers;
}

Task<int> SharedLedger::append_logs(std::string, std::vector<store::JobLogItem> items) {
  co_return static_cast<int>(items.size());
}

}  // namespace millrace::test
