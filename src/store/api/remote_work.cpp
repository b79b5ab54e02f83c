#include "store/api/remote_work.h"

#include "base/json.h"
#include "store/answers.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

json::Array json_array(const std::vector<std::string>& values) {
  json::Array array;
  for (const auto& value : values) array.emplace_back(value);
  return array;
}

json::Object worker_info_json(const WorkerInfo& info) {
  json::Object object;
  object["host"] = info.host;
  object["pid"] = info.pid;
  object["version"] = info.version;
  object["slots"] = info.slots;
  object["queues"] = json_array(info.queues);
  object["job_types"] = json_array(info.job_types);
  object["lease_ms"] = info.lease.count();
  if (info.client_time_ms != 0) object["client_time_ms"] = info.client_time_ms;
  return object;
}

struct Leases {
  std::vector<Uuid> ids;
  std::vector<Uuid> tokens;

  explicit Leases(const std::vector<HeldLease>& leases) {
    for (const auto& lease : leases) {
      ids.push_back(lease.id.value);
      tokens.push_back(lease.token.value);
    }
  }
};

class PgRemoteWorkStore final : public RemoteWorkStore {
 public:
  explicit PgRemoteWorkStore(ApiSession& session) : session_(session) {}

  Task<Uuid> register_worker(CallContext caller, std::string worker_id, WorkerInfo info,
                             Uuid token_id) override {
    pg::Params params;
    params.add(worker_id).add_json(worker_info_json(info)).add(token_id);
    MR_CO_TRY(const auto rows,
              co_await session_.as(caller.by_worker(), MR_POINT("api_work_register"), Access::write,
                                   {.sql = "select millrace.register_remote_worker($1, $2, $3)",
                                    .params = std::move(params),
                                    .name = "mr_api_work_register"}));
    co_return rows[0].uuid(0);
  }

  Task<BeatAnswer> beat_worker(CallContext caller, RemoteWorker worker, BeatInfo info) override {
    json::Object object;
    object["running"] = info.running;
    object["draining"] = info.draining;
    if (info.client_time_ms != 0) object["client_time_ms"] = info.client_time_ms;
    pg::Params params;
    params.add(worker.key.worker_id).add(worker.key.process).add_json(object);
    MR_CO_TRY(const auto rows,
              co_await guarded(std::move(caller), worker, MR_POINT("api_work_beat"),
                               {.sql = "select millrace.beat_worker($1, $2, $3)",
                                .params = std::move(params),
                                .name = "mr_api_work_beat"}));
    co_return read_beat_answer(rows[0].text(0));
  }

  Task<int> retire_worker(CallContext caller, RemoteWorker worker) override {
    MR_CO_TRY(const auto rows,
              co_await guarded(std::move(caller), worker, MR_POINT("api_work_retire"),
                               {.sql = "select millrace.retire_worker($1, $2)",
                                .params = pg::params(worker.key.worker_id, worker.key.process),
                                .name = "mr_api_work_retire"}));
    co_return static_cast<int>(rows[0].opt_i64(0).value_or(0));
  }

  Task<std::vector<ClaimedJob>> claim_jobs(CallContext caller, RemoteWorker worker,
                                           RemoteClaim claim) override {
    pg::Params params;
    params.add(worker.key.worker_id).add(worker.key.process).add(claim.queue).add(claim.limit);
    if (claim.job_types.empty()) {
      params.add_null();
    } else {
      params.add_array(claim.job_types);
    }
    MR_CO_TRY(const auto rows,
              co_await guarded(std::move(caller), worker, MR_POINT("api_work_claim"),
                               {.sql = "select * from millrace.claim_jobs($1, $2, $3, $4, $5)",
                                .params = std::move(params),
                                .name = "mr_api_work_claim"}));
    std::vector<ClaimedJob> jobs;
    for (const auto row : rows) jobs.push_back(read_claimed(row, claim.queue));
    co_return jobs;
  }

  Task<std::vector<HeldLease>> unheld_leases(CallContext caller, RemoteWorker worker,
                                             std::vector<LeaseToken> held) override {
    pg::Params params;
    params.add(worker.key.worker_id).add(worker.key.process);
    params.add_id_array(std::span<const LeaseToken>(held));
    MR_CO_TRY(
        const auto rows,
        co_await guarded(std::move(caller), worker, MR_POINT("api_work_unheld"),
                         {.sql = "select job_id, token from millrace.unheld_leases($1, $2, $3)",
                          .params = std::move(params),
                          .name = "mr_api_work_unheld"}));
    std::vector<HeldLease> leases;
    for (const auto row : rows) {
      leases.push_back({.id = row.id<JobId>("job_id"), .token = row.id<LeaseToken>("token")});
    }
    co_return leases;
  }

  Task<std::vector<ExtendAnswer>> extend_leases(CallContext caller, RemoteWorker worker,
                                                std::vector<HeldLease> leases,
                                                std::chrono::milliseconds extend) override {
    const Leases split(leases);
    pg::Params params;
    params.add(worker.key.worker_id).add_uuid_array(split.ids).add_uuid_array(split.tokens);
    params.add(extend.count());
    MR_CO_TRY(const auto rows,
              co_await guarded(std::move(caller), worker, MR_POINT("api_work_extend"),
                               {.sql = "select job_id, answer, cancel_requested"
                                       " from millrace.extend_leases($1, $2, $3, $4)",
                                .params = std::move(params),
                                .name = "mr_api_work_extend"}));
    std::vector<ExtendAnswer> answers;
    for (const auto row : rows) {
      answers.push_back({.id = row.id<JobId>("job_id"),
                         .extended = row.text("answer") == "extended",
                         .cancel_requested = row.opt_boolean("cancel_requested").value_or(false)});
    }
    co_return answers;
  }

  Task<std::string> settle_jobs(CallContext caller, RemoteWorker worker,
                                std::string settlements_json) override {
    constexpr bool kGoneToo = true;
    MR_CO_TRY(
        const auto rows,
        co_await guarded(std::move(caller), worker, MR_POINT("api_work_settle"),
                         rows_as_json("mr_api_work_settle",
                                      "select job_id, answer from millrace.settle_remote($1, $2)",
                                      pg::params(worker.key.worker_id, settlements_json)),
                         kGoneToo));
    co_return std::string(rows[0].text(0));
  }

  Task<std::string> report_progress(CallContext caller, RemoteWorker worker,
                                    std::string items_json) override {
    MR_CO_TRY(const auto rows,
              co_await guarded(std::move(caller), worker, MR_POINT("api_work_progress"),
                               rows_as_json("mr_api_work_progress",
                                            "select job_id, answer, cancel_requested"
                                            " from millrace.report_progress($1, $2)",
                                            pg::params(worker.key.worker_id, items_json))));
    co_return std::string(rows[0].text(0));
  }

  Task<int> append_logs(CallContext caller, RemoteWorker worker, std::string items_json) override {
    MR_CO_TRY(const auto rows,
              co_await guarded(std::move(caller), worker, MR_POINT("api_work_logs"),
                               {.sql = "select millrace.append_logs($1, $2)",
                                .params = pg::params(worker.key.worker_id, items_json),
                                .name = "mr_api_work_logs"}));
    co_return static_cast<int>(rows[0].opt_i64(0).value_or(0));
  }

 private:
  // The check and the verb in one piece: the verb does not run when the check fails.
  Task<pg::ResultSet> guarded(CallContext caller, RemoteWorker worker, fault::Point point,
                              pg::Statement verb, bool gone_too = false) {
    pg::Params params;
    params.add(worker.key.worker_id).add(worker.key.process).add(worker.token_id).add(gone_too);
    std::vector<pg::Statement> statements;
    statements.push_back({.sql = "select millrace.check_remote_worker($1, $2, $3, $4)",
                          .params = std::move(params),
                          .name = "mr_api_work_check"});
    statements.push_back(std::move(verb));
    co_return co_await session_.as(caller.by_worker(), point, Access::write, std::move(statements));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<RemoteWorkStore> make_remote_work_store(ApiSession& session) {
  return std::make_unique<PgRemoteWorkStore>(session);
}

}  // namespace millrace::store
