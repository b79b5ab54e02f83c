#include "store/recorded_job_store.h"

#include "base/history.h"

#include <unistd.h>
#include <utility>

namespace millrace::store {
namespace {

json::Object delivery(const JobId& id, const LeaseToken& token) {
  return {{"job", id.to_string()}, {"token", token.to_string()}};
}

json::Object settled(const Settlement& settlement) {
  auto object = delivery(settlement.id, settlement.token);
  object["outcome"] = std::string(to_string(settlement.outcome.kind));
  return object;
}

// Writes what became of the call, and passes it on.
template <class T, class Describe>
Result<T> finish(const history::Call& call, Result<T> result, const Describe& describe) {
  if (!result.has_value()) {
    call.failed(result.error());
  } else if (history::enabled()) {
    call.ok(describe(*result));
  }
  return result;
}

json::Object count(int number) { return {{"count", number}}; }

template <class Items>
json::Object jobs_of(const std::string& worker_id, const Items& items) {
  json::Array jobs;
  for (const auto& item : items) jobs.emplace_back(delivery(item.id, item.token));
  return {{"worker", worker_id}, {"jobs", std::move(jobs)}};
}

}  // namespace

Task<void> RecordedJobStore::ensure_job_types(std::vector<std::string> job_types,
                                              std::string queue) {
  return store_.ensure_job_types(std::move(job_types), std::move(queue));
}

Task<Uuid> RecordedJobStore::register_worker(std::string worker_id, WorkerInfo info) {
  json::Object detail{{"worker", worker_id}, {"lease_ms", info.lease.count()}};
  if (!info.supervisor_id.empty()) detail["supervisor"] = ::getppid();
  const history::Call call("register", std::move(detail));
  co_return finish(call, co_await store_.register_worker(worker_id, std::move(info)),
                   [](const Uuid& nonce) { return json::Object{{"process", nonce.to_string()}}; });
}

Task<BeatAnswer> RecordedJobStore::beat_worker(WorkerKey worker, BeatInfo info) {
  const history::Call call("beat", {{"worker", worker.worker_id}});
  co_return finish(call, co_await store_.beat_worker(worker, info),
                   [](const BeatAnswer& answer) { return json::Object{{"alive", answer.alive}}; });
}

Task<int> RecordedJobStore::retire_worker(WorkerKey worker) {
  const history::Call call("retire", {{"worker", worker.worker_id}});
  co_return finish(call, co_await store_.retire_worker(worker), count);
}

Task<std::vector<HeldLease>> RecordedJobStore::unheld_leases(WorkerKey worker,
                                                             std::vector<LeaseToken> held) {
  const history::Call call("unheld", {{"worker", worker.worker_id}});
  co_return finish(call, co_await store_.unheld_leases(worker, std::move(held)),
                   [](const std::vector<HeldLease>& leases) {
                     json::Array jobs;
                     for (const auto& lease : leases) {
                       jobs.emplace_back(delivery(lease.id, lease.token));
                     }
                     return json::Object{{"jobs", std::move(jobs)}};
                   });
}

Task<int> RecordedJobStore::hand_back_process(std::string supervisor_id, std::string worker_id) {
  const history::Call call("handback", {{"worker", worker_id}});
  co_return finish(call, co_await store_.hand_back_process(std::move(supervisor_id), worker_id),
                   count);
}

Task<std::vector<ClaimedJob>> RecordedJobStore::claim_jobs(ClaimRequest request) {
  const history::Call call(
      "claim",
      {{"worker", request.worker.worker_id}, {"queue", request.queue}, {"limit", request.limit}});
  co_return finish(call, co_await store_.claim_jobs(std::move(request)),
                   [](const std::vector<ClaimedJob>& claimed) {
                     json::Array jobs;
                     for (const auto& job : claimed) {
                       auto object = delivery(job.id, job.token);
                       object["attempt"] = job.attempt;
                       object["delivery"] = job.delivery_count;
                       jobs.emplace_back(std::move(object));
                     }
                     return json::Object{{"jobs", std::move(jobs)}};
                   });
}

Task<std::vector<ExtendAnswer>> RecordedJobStore::extend_leases(std::string worker_id,
                                                                std::vector<HeldLease> leases,
                                                                std::chrono::milliseconds extend) {
  const history::Call call("extend",
                           history::enabled() ? jobs_of(worker_id, leases) : json::Object());
  co_return finish(call, co_await store_.extend_leases(worker_id, std::move(leases), extend),
                   [](const std::vector<ExtendAnswer>& answers) {
                     json::Array list;
                     for (const auto& answer : answers) {
                       list.emplace_back(json::Object{{"job", answer.id.to_string()},
                                                      {"extended", answer.extended}});
                     }
                     return json::Object{{"answers", std::move(list)}};
                   });
}

Task<std::vector<JobAnswer>> RecordedJobStore::settle(std::string worker_id,
                                                      std::vector<Settlement> settlements) {
  json::Array jobs;
  if (history::enabled()) {
    for (const auto& settlement : settlements) jobs.emplace_back(settled(settlement));
  }
  const history::Call call("settle", {{"worker", worker_id}, {"jobs", std::move(jobs)}});
  co_return finish(
      call, co_await store_.settle(worker_id, std::move(settlements)),
      [](const std::vector<JobAnswer>& answers) {
        json::Array list;
        for (const auto& answer : answers) {
          list.emplace_back(json::Object{{"job", answer.id.to_string()},
                                         {"answer", std::string(to_string(answer.answer))}});
        }
        return json::Object{{"answers", std::move(list)}};
      });
}

Task<Answer> RecordedJobStore::settle_with(std::string worker_id, Settlement settlement,
                                           std::vector<SqlStatement> statements) {
  const auto id = settlement.id;
  const history::Call call("settle",
                           {{"worker", worker_id}, {"jobs", json::Array{settled(settlement)}}});
  co_return finish(
      call, co_await store_.settle_with(worker_id, std::move(settlement), std::move(statements)),
      [&](Answer answer) {
        return json::Object{
            {"answers", json::Array{json::Object{{"job", id.to_string()},
                                                 {"answer", std::string(to_string(answer))}}}}};
      });
}

Task<std::vector<ProgressAnswer>> RecordedJobStore::report_progress(
    std::string worker_id, std::vector<ProgressItem> items) {
  const history::Call call("progress",
                           history::enabled() ? jobs_of(worker_id, items) : json::Object());
  co_return finish(call, co_await store_.report_progress(worker_id, std::move(items)),
                   [](const std::vector<ProgressAnswer>&) { return json::Object(); });
}

Task<int> RecordedJobStore::append_logs(std::string worker_id, std::vector<JobLogItem> items) {
  return store_.append_logs(std::move(worker_id), std::move(items));
}

}  // namespace millrace::store
