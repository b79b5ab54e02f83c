#include "store/pg_job_store.h"

#include "base/json.h"
#include "store/answers.h"
#include "store/claims.h"
#include "store/settlement_json.h"
#include "store/sqlstate.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

json::Array json_array(const std::vector<std::string>& values) {
  json::Array array;
  for (const auto& value : values) array.emplace_back(value);
  return array;
}

json::Object worker_info_json(const WorkerInfo& info) {
  json::Object object;
  if (!info.supervisor_id.empty()) object["supervisor_id"] = info.supervisor_id;
  object["host"] = info.host;
  object["pid"] = info.pid;
  object["version"] = info.version;
  object["slots"] = info.slots;
  object["queues"] = json_array(info.queues);
  object["job_types"] = json_array(info.job_types);
  object["lease_ms"] = info.lease.count();
  object["client_time_ms"] = info.client_time_ms;
  return object;
}

pg::Statement claim_statement(const ClaimRequest& request, bool plan_only = false) {
  pg::Params params;
  params.add(request.worker.worker_id).add(request.worker.process).add(request.queue);
  params.add(request.limit).add_array(request.job_types);
  if (request.marks) {
    params.add(marks_json(*request.marks));
  } else {
    params.add_null();
  }
  params.add(request.alone).add(plan_only);
  return {.sql = "select * from millrace.claim_jobs($1, $2, $3, $4, $5, $6, $7, true, $8, true)",
          .params = std::move(params),
          .name = "mr_claim_jobs"};
}

pg::Statement lines_statement(const std::string& worker_id, const Uuid& claim) {
  return {.sql = "select millrace.claim_lines($1, $2) as lines",
          .params = pg::params(worker_id, claim),
          .name = "mr_claim_lines"};
}

pg::Statement complete_statement(const std::string& worker_id,
                                 const std::vector<const Settlement*>& settlements) {
  std::vector<Uuid> ids;
  std::vector<Uuid> tokens;
  for (const auto* settlement : settlements) {
    ids.push_back(settlement->id.value);
    tokens.push_back(settlement->token.value);
  }
  pg::Params params;
  params.add(worker_id).add_uuid_array(ids).add_uuid_array(tokens);
  const auto results = results_json(settlements);
  if (results.empty()) {
    params.add_null();
  } else {
    params.add(results);
  }
  return {.sql = "select job_id, answer from millrace.complete_jobs($1, $2, $3, $4)",
          .params = std::move(params),
          .name = "mr_complete_jobs"};
}

pg::Statement settle_statement(const std::string& worker_id,
                               const std::vector<const Settlement*>& settlements) {
  return {.sql = "select job_id, answer from millrace.settle_jobs($1, $2)",
          .params = pg::params(worker_id, settlements_json(settlements)),
          .name = "mr_settle_jobs"};
}

pg::Statement logs_statement(const std::string& worker_id, const std::vector<JobLogItem>& items) {
  return {.sql = "select millrace.append_logs($1, $2)",
          .params = pg::params(worker_id, logs_json(items)),
          .name = "mr_append_logs"};
}

pg::Statement progress_statement(const std::string& worker_id,
                                 const std::vector<ProgressItem>& items) {
  return {.sql = "select job_id, answer, cancel_requested from millrace.report_progress($1, $2)",
          .params = pg::params(worker_id, progress_json(items)),
          .name = "mr_report_progress"};
}

std::vector<JobLogItem> log_items(const std::vector<Settlement>& settlements) {
  std::vector<JobLogItem> items;
  for (const auto& settlement : settlements) {
    for (const auto& line : settlement.logs) {
      items.push_back({.id = settlement.id, .token = settlement.token, .line = line});
    }
  }
  return items;
}

struct SettlePlan {
  std::vector<pg::Statement> statements;
  std::size_t answers_from = 0;  // The statements before it return no answers.
  ClaimBits claims;              // Unless empty, theirs is the first statement: it locks them all.
};

SettlePlan plan_settlements(const std::string& worker_id,
                            const std::vector<Settlement>& settlements) {
  std::vector<const Settlement*> plain;
  std::vector<const Settlement*> other;
  SettlePlan plan;
  for (const auto& settlement : settlements) {
    if (is_claim_token(settlement.token)) plan.claims.add(settlement);
    if (ClaimBits::fits(settlement)) continue;
    (settlement.outcome.plain() ? plain : other).push_back(&settlement);
  }
  if (!plan.claims.empty()) plan.statements.push_back(plan.claims.statement(worker_id));
  if (const auto logs = log_items(settlements); !logs.empty()) {
    plan.statements.push_back(logs_statement(worker_id, logs));
  }
  plan.answers_from = plan.statements.size();
  if (!plain.empty()) plan.statements.push_back(complete_statement(worker_id, plain));
  if (!other.empty()) plan.statements.push_back(settle_statement(worker_id, other));
  return plan;
}

}  // namespace

// The pools are services that outlive every call.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
Task<pg::ResultSet> PgJobStore::call(pg::Pool& pool, pg::Statement statement,
                                     pg::QueryOptions options) {
  MR_CO_TRY(auto connection, co_await pool.acquire(timeouts_.acquire, statement.name));
  auto name = std::move(statement.name);
  if (name.empty()) {
    co_return translate(
        co_await connection->query(std::move(statement.sql), std::move(statement.params), options));
  }
  co_return translate(co_await connection->prepared(std::move(name), std::move(statement.sql),
                                                    std::move(statement.params), options));
}

Task<int> PgJobStore::count(pg::Pool& pool, pg::Statement statement, pg::QueryOptions options) {
  MR_CO_TRY(auto rows, co_await call(pool, std::move(statement), options));
  co_return static_cast<int>(rows[0].opt_i64(0).value_or(0));
}
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

Task<void> PgJobStore::ensure_job_types(std::vector<std::string> job_types, std::string queue) {
  pg::Params params;
  params.add_array(job_types).add(queue);
  MR_CO_TRY_VOID(co_await call(
      work_, {.sql = "select millrace.ensure_job_types($1, $2)", .params = std::move(params)},
      {timeouts_.call, MR_POINT("ensure_types")}));
  co_return ok();
}

// On two sessions: a claim that stands in line must not hold up those who settle. Others plan when
// there is enough to do for them.
Task<void> PgJobStore::warm_up(std::string queue) {
  const ClaimRequest nothing{.queue = std::move(queue)};
  MR_CO_TRY(auto claims, co_await work_.acquire(timeouts_.acquire));
  for (auto statement : {claim_statement(nothing, true), lines_statement({}, {})}) {
    MR_CO_TRY_VOID(translate(co_await claims->prepared(
        std::move(statement.name), std::move(statement.sql), std::move(statement.params),
        {timeouts_.beat, MR_POINT("warm_up")})));
  }
  constexpr bool kPatient = false;
  MR_CO_TRY(auto settlements, co_await work_.acquire(timeouts_.acquire, {}, kPatient));
  auto statement = ClaimBits().statement({});
  MR_CO_TRY_VOID(translate(co_await settlements->prepared(
      std::move(statement.name), std::move(statement.sql), std::move(statement.params),
      {timeouts_.beat, MR_POINT("warm_up")})));
  co_return ok();
}

Task<Uuid> PgJobStore::register_worker(std::string worker_id, WorkerInfo info) {
  pg::Params params;
  params.add(worker_id).add_json(worker_info_json(info));
  MR_CO_TRY(auto rows, co_await call(beats_,
                                     {.sql = "select millrace.register_worker($1, $2)",
                                      .params = std::move(params)},
                                     {timeouts_.beat, MR_POINT("register")}));
  co_return rows[0].uuid(0);
}

Task<BeatAnswer> PgJobStore::beat_worker(WorkerKey worker, BeatInfo info) {
  json::Object object;
  object["running"] = info.running;
  object["draining"] = info.draining;
  object["client_time_ms"] = info.client_time_ms;
  pg::Params params;
  params.add(worker.worker_id).add(worker.process).add_json(object);
  MR_CO_TRY(auto rows, co_await call(beats_,
                                     {.sql = "select millrace.beat_worker($1, $2, $3)",
                                      .params = std::move(params),
                                      .name = "mr_beat_worker"},
                                     {timeouts_.beat, MR_POINT("beat")}));
  co_return read_beat_answer(rows[0].text(0));
}

Task<int> PgJobStore::retire_worker(WorkerKey worker) {
  co_return co_await count(beats_,
                           {.sql = "select millrace.retire_worker($1, $2)",
                            .params = pg::params(worker.worker_id, worker.process)},
                           {timeouts_.call, MR_POINT("retire")});
}

Task<std::vector<HeldLease>> PgJobStore::unheld_leases(WorkerKey worker,
                                                       std::vector<LeaseToken> held) {
  pg::Params params;
  params.add(worker.worker_id).add(worker.process).add_id_array(std::span<const LeaseToken>(held));
  MR_CO_TRY(auto rows,
            co_await call(work_,
                          {.sql = "select job_id, token from millrace.unheld_leases($1, $2, $3)",
                           .params = std::move(params)},
                          {timeouts_.call, MR_POINT("unheld")}));
  std::vector<HeldLease> leases;
  for (const auto row : rows) {
    leases.push_back({.id = row.id<JobId>("job_id"), .token = row.id<LeaseToken>("token")});
  }
  co_return leases;
}

Task<int> PgJobStore::hand_back_process(std::string supervisor_id, std::string worker_id) {
  co_return co_await count(work_,
                           {.sql = "select millrace.hand_back_process($1, $2)",
                            .params = pg::params(supervisor_id, worker_id)},
                           {timeouts_.call, MR_POINT("hand_back")});
}

Task<std::vector<ClaimedJob>> PgJobStore::claim_jobs(ClaimRequest request) {
  MR_CO_TRY(const auto rows,
            co_await call(work_, claim_statement(request), {timeouts_.call, MR_POINT("claim")}));
  std::vector<std::string> lines;
  for (const auto& claim : bare_claims(rows)) {
    MR_CO_TRY(const auto answer,
              co_await call(work_, lines_statement(request.worker.worker_id, claim),
                            {timeouts_.call, MR_POINT("claim")}));
    auto text = answer[0].opt_text("lines");
    if (!text) co_return fail(ErrorKind::unavailable, "a claim ended before its jobs were read");
    lines.push_back(*std::move(text));
  }
  co_return read_claims(rows, lines, request.queue);
}

Task<std::vector<ExtendAnswer>> PgJobStore::extend_leases(std::string worker_id,
                                                          std::vector<HeldLease> leases,
                                                          milliseconds extend) {
  std::vector<Uuid> ids;
  std::vector<Uuid> tokens;
  for (const auto& lease : leases) {
    ids.push_back(lease.id.value);
    tokens.push_back(lease.token.value);
  }
  pg::Params params;
  params.add(worker_id).add_uuid_array(ids).add_uuid_array(tokens).add(extend.count());
  MR_CO_TRY(auto rows, co_await call(work_,
                                     {.sql = "select job_id, answer, cancel_requested "
                                             "from millrace.extend_leases($1, $2, $3, $4)",
                                      .params = std::move(params)},
                                     {timeouts_.call, MR_POINT("extend")}));
  std::vector<ExtendAnswer> answers;
  for (const auto row : rows) {
    answers.push_back({.id = row.id<JobId>("job_id"),
                       .extended = row.text("answer") == "extended",
                       .cancel_requested = row.opt_boolean("cancel_requested").value_or(false)});
  }
  co_return answers;
}

Task<std::vector<JobAnswer>> PgJobStore::settle(std::string worker_id,
                                                std::vector<Settlement> settlements) {
  auto plan = plan_settlements(worker_id, settlements);
  if (plan.statements.empty()) co_return std::vector<JobAnswer>{};
  MR_CO_TRY(auto connection,
            co_await work_.acquire(timeouts_.acquire, plan.statements.front().name));
  MR_CO_TRY(auto results, translate(co_await connection->pipeline(
                              std::move(plan.statements), {timeouts_.call, MR_POINT("settle")})));
  AnswerMap answers;
  std::vector<const Settlement*> refused;
  for (std::size_t i = 0; i < results.size(); ++i) {
    // The statements after a failed one only say that they were not run.
    if (!results[i].has_value()) co_return fail(translate(std::move(results[i]).error()));
    if (i == 0 && !plan.claims.empty()) refused = plan.claims.refused(*results[i]);
    if (i >= plan.answers_from) MR_CO_TRY_VOID(read_answers(*results[i], answers));
  }
  if (!refused.empty()) {
    // They have a lease of their own by now, or were taken away.
    std::vector<pg::Statement> again;
    again.push_back(complete_statement(worker_id, refused));
    MR_CO_TRY(auto late, translate(co_await connection->pipeline(
                             std::move(again), {timeouts_.call, MR_POINT("settle")})));
    if (!late[0].has_value()) co_return fail(translate(std::move(late[0]).error()));
    MR_CO_TRY_VOID(read_answers(*late[0], answers));
  }
  std::vector<JobAnswer> ordered;
  ordered.reserve(settlements.size());
  for (const auto& settlement : settlements) {
    const auto found = answers.find(settlement.id);
    const auto otherwise = ClaimBits::fits(settlement) ? Answer::settled : Answer::not_found;
    ordered.push_back(
        {.id = settlement.id, .answer = found == answers.end() ? otherwise : found->second});
  }
  co_return ordered;
}

// One pipeline, which is one transaction: the server never waits in the middle of it for a caller
// that may be gone, holding the locks that the repeat of this call needs.
Task<Answer> PgJobStore::settle_with(std::string worker_id, Settlement settlement,
                                     std::vector<SqlStatement> statements) {
  std::vector<pg::Statement> all;
  if (!settlement.logs.empty()) {
    all.push_back(logs_statement(worker_id, log_items({settlement})));
  }
  for (const auto& step : settlement.steps) {
    all.push_back(progress_statement(worker_id, {{.id = settlement.id,
                                                  .token = settlement.token,
                                                  .percent = step.percent,
                                                  .message = step.message,
                                                  .data_json = step.data_json}}));
  }
  const auto fence = all.size();
  const std::vector<const Settlement*> one{&settlement};
  all.push_back({.sql = "select millrace.settle_or_raise($1, $2)",
                 .params = pg::params(worker_id, settlements_json(one)),
                 .name = "mr_settle_or_raise"});
  for (auto& statement : statements) {
    pg::Params params;
    for (const auto& value : statement.params) params.add(value);
    all.push_back({.sql = std::move(statement.sql), .params = std::move(params)});
  }
  MR_CO_TRY(auto connection, co_await work_.acquire(timeouts_.acquire, all[fence].name));
  MR_CO_TRY(auto results, translate(co_await connection->pipeline(
                              std::move(all), {timeouts_.call, MR_POINT("settle_with")})));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].has_value()) continue;
    auto error = std::move(results[i]).error();
    const auto answer = parse_answer(error.detail);
    if (i != fence || error.sqlstate != "MR001" || !answer) {
      co_return fail(translate(std::move(error)));
    }
    if (*answer != Answer::replaced) co_return *answer;
    // Its follow-up jobs are refused, or it was told to stop: it ends as a retry, failed or
    // cancelled, and the statements, which belong to the outcome it did not get, are left out.
    connection = {};
    std::vector<Settlement> alone;
    alone.push_back(std::move(settlement));
    MR_CO_TRY(const auto answers, co_await settle(std::move(worker_id), std::move(alone)));
    co_return answers.front().answer;
  }
  co_return Answer::settled;
}

Task<std::vector<ProgressAnswer>> PgJobStore::report_progress(std::string worker_id,
                                                              std::vector<ProgressItem> items) {
  MR_CO_TRY(auto rows, co_await call(work_, progress_statement(worker_id, items),
                                     {timeouts_.call, MR_POINT("progress")}));
  std::vector<ProgressAnswer> answers;
  for (const auto row : rows) {
    const auto answer = row.text("answer");
    answers.push_back({.id = row.id<JobId>("job_id"),
                       .held = answer != "lease_lost" && answer != "not_found",
                       .cancel_requested = row.opt_boolean("cancel_requested").value_or(false)});
  }
  co_return answers;
}

Task<int> PgJobStore::append_logs(std::string worker_id, std::vector<JobLogItem> items) {
  co_return co_await count(work_, logs_statement(worker_id, items),
                           {timeouts_.call, MR_POINT("logs")});
}

}  // namespace millrace::store
