#include "store/api/operations.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

constexpr std::string_view kQueues =
    "select q.queue, coalesce(c.ready, 0) as ready, coalesce(c.delayed, 0) as delayed,"
    "       coalesce(c.leased, 0) as leased, coalesce(c.enqueued, 0) as enqueued,"
    "       coalesce(c.completed, 0) as completed, coalesce(c.failed, 0) as failed,"
    "       coalesce(c.cancelled, 0) as cancelled, coalesce(c.redriven, 0) as redriven,"
    "       q.paused_at, q.paused_reason, q.paused_by, q.max_attempts, q.backoff_base,"
    "       q.backoff_factor, q.backoff_cap, q.jitter_low, q.jitter_high, q.lease, q.beat,"
    "       q.run_timeout, q.reclaim_jitter, q.max_age, q.max_snoozes, q.concurrency_max,"
    "       q.key_concurrency_max, q.depth_max, q.priority_default, q.age_step"
    "  from millrace.queue q left join ("
    "    select c.queue, sum(c.enqueued)::bigint as enqueued,"
    "           sum(c.completed)::bigint as completed, sum(c.failed)::bigint as failed,"
    "           sum(c.cancelled)::bigint as cancelled, sum(c.redriven)::bigint as redriven,"
    "           sum(c.ready)::bigint as ready, sum(c.delayed)::bigint as delayed,"
    "           sum(c.leased)::bigint as leased"
    "      from millrace.queue_counts() c group by c.queue) c on c.queue = q.queue";

// A call whose only argument is a name: all that can be invalid is that nothing has it.
Error name_not_found(Error error) {
  if (error.sqlstate == "MR024") error.kind = ErrorKind::not_found;
  return error;
}

class PgOperationStore final : public OperationStore {
 public:
  explicit PgOperationStore(ApiSession& session) : session_(session) {}

  Task<std::string> list_queues(CallContext caller) override {
    co_return co_await read(std::move(caller), "mr_api_list_queues",
                            fmt::format("{} order by q.queue", kQueues));
  }

  Task<Versioned> get_queue(CallContext caller, std::string queue) override {
    const Error missing{.kind = ErrorKind::not_found,
                        .message = fmt::format("queue '{}' does not exist", queue),
                        .sqlstate = "MR007"};
    co_return co_await one(
        std::move(caller),
        {.sql = fmt::format("select row_to_json(t)::text, millrace.version_of('queue', t.queue)"
                            " from ({} where q.queue = $1) t",
                            kQueues),
         .params = pg::params(queue),
         .name = "mr_api_get_queue"},
        missing);
  }

  Task<void> set_queue(CallContext caller, std::string queue, std::string policy_json,
                       WantedVersions wanted) override {
    co_return co_await change(std::move(caller),
                              guarded_change("queue", queue, wanted,
                                             {.sql = "select millrace.set_queue($1, $2)",
                                              .params = pg::params(queue, policy_json)}));
  }

  Task<void> pause_queue(CallContext caller, std::string queue,
                         std::optional<std::string> reason) override {
    co_return co_await write(std::move(caller), "select millrace.pause_queue($1, $2)",
                             pg::params(queue, reason));
  }

  Task<void> resume_queue(CallContext caller, std::string queue) override {
    co_return co_await write(std::move(caller), "select millrace.resume_queue($1)",
                             pg::params(queue));
  }

  Task<std::string> list_job_types(CallContext caller) override {
    co_return co_await read(
        std::move(caller), "mr_api_list_types",
        "select t.job_type, q.queue, t.enabled, t.required_keys, t.provider_name, t.api_endpoint,"
        " t.priority_default, t.run_timeout, t.max_attempts"
        " from millrace.job_type t join millrace.queue q on q.queue_id = t.queue_id"
        " order by t.job_type");
  }

  Task<void> set_job_type(CallContext caller, std::string job_type,
                          std::string policy_json) override {
    co_return co_await write(std::move(caller), "select millrace.set_job_type($1, $2)",
                             pg::params(job_type, policy_json));
  }

  Task<std::string> list_limits(CallContext caller) override {
    co_return co_await read(std::move(caller), "mr_api_list_limits",
                            "select * from millrace.limits_overview()");
  }

  Task<Versioned> get_limit(CallContext caller, ProviderName name) override {
    const Error missing{
        .kind = ErrorKind::not_found,
        .message = fmt::format("there is no limit of {} {}", name.provider, name.endpoint),
        .sqlstate = "MR013"};
    co_return co_await one(std::move(caller),
                           {.sql = "select row_to_json(t)::text, millrace.version_of('limit', "
                                   "$1::text || ':' || $2::text)"
                                   " from millrace.limits_overview() t"
                                   " where t.provider_name = $1 and t.api_endpoint = $2",
                            .params = pg::params(name.provider, name.endpoint),
                            .name = "mr_api_get_limit"},
                           missing);
  }

  Task<void> set_limit(CallContext caller, ProviderName name, std::string values_json,
                       WantedVersions wanted) override {
    co_return co_await change(
        std::move(caller),
        guarded_change("limit", fmt::format("{}:{}", name.provider, name.endpoint), wanted,
                       {.sql = "select millrace.set_limit($1, $2, $3)",
                        .params = pg::params(name.provider, name.endpoint, values_json)}));
  }

  Task<void> override_limit(CallContext caller, ProviderName name, LimitOverride values) override {
    pg::Params params;
    params.add(name.provider).add(name.endpoint).add(values.values_json).add(values.reason);
    if (values.ttl) {
      params.add(std::chrono::microseconds(*values.ttl));
    } else {
      params.add_null();
    }
    co_return co_await write(
        std::move(caller), "select millrace.override_limit($1, $2, $3, $4, $5)", std::move(params));
  }

  Task<void> clear_override(CallContext caller, ProviderName name) override {
    co_return co_await write(std::move(caller), "select millrace.clear_override($1, $2)",
                             pg::params(name.provider, name.endpoint));
  }

  Task<void> reset_breaker(CallContext caller, ProviderName name) override {
    co_return co_await write(std::move(caller), "select millrace.reset_breaker($1, $2)",
                             pg::params(name.provider, name.endpoint));
  }

  Task<std::string> list_cron(CallContext caller) override {
    co_return co_await read(std::move(caller), "mr_api_list_cron",
                            "select * from millrace.cron_overview()");
  }

  Task<Versioned> get_cron(CallContext caller, std::string name) override {
    const Error missing{.kind = ErrorKind::not_found,
                        .message = fmt::format("cron entry '{}' does not exist", name),
                        .sqlstate = "MR024"};
    co_return co_await one(
        std::move(caller),
        {.sql = "select row_to_json(t)::text, millrace.version_of('cron', t.name)"
                " from millrace.cron_overview() t"
                " where t.tenant_id = millrace.current_tenant() and t.name = $1",
         .params = pg::params(name),
         .name = "mr_api_get_cron"},
        missing);
  }

  Task<Uuid> set_cron(CallContext caller, CronEntry entry, WantedVersions wanted) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(
                  std::move(caller), MR_POINT("api_operate_write"), Access::write,
                  guarded_change("cron", entry.name, wanted,
                                 {.sql = "select millrace.set_cron($1, $2, $3, $4)",
                                  .params = pg::params(entry.name, entry.schedule, entry.job_json,
                                                       entry.options_json)})));
    co_return rows[0].uuid(0);
  }

  Task<void> delete_cron(CallContext caller, std::string name, WantedVersions wanted) override {
    auto deleted = co_await change(
        std::move(caller),
        guarded_change("cron", name, wanted,
                       {.sql = "select millrace.delete_cron($1)", .params = pg::params(name)}));
    if (!deleted) co_return fail(name_not_found(std::move(deleted).error()));
    co_return ok();
  }

  Task<std::string> cron_now(CallContext caller, std::string name, RequestKey key) override {
    auto params = key_params(key);
    params.add(name);
    auto effect = co_await session_.text_as(
        std::move(caller), MR_POINT("api_operate_write"), Access::write,
        kept_effect("mr_api_cron_now", "select jsonb_build_object('job_id', millrace.cron_now($4))",
                    std::move(params)));
    if (!effect) co_return fail(name_not_found(std::move(effect).error()));
    co_return effect;
  }

  Task<std::string> list_workers(CallContext caller) override {
    co_return co_await read(
        std::move(caller), "mr_api_list_workers",
        "select w.worker_id, w.host, w.pid, w.version, w.slots, w.running, w.draining, w.queues,"
        " w.job_types, w.started_at, w.beat_at, w.lease_until, w.clock_skew_ms, w.supervisor_id,"
        " w.token_id is not null as remote, w.lease_until >= millrace.now() as alive"
        " from millrace.worker w order by w.worker_id limit 10000");
  }

  Task<std::string> list_configuration(CallContext caller) override {
    co_return co_await read(
        std::move(caller), "mr_api_list_config",
        "select c.config_key, case when c.is_sensitive then '***' else c.config_value end"
        " as config_value, c.description, c.updated_at"
        " from millrace.system_configuration c order by c.config_key");
  }

  Task<void> set_configuration(CallContext caller, std::string key, std::string value) override {
    co_return co_await write(std::move(caller), "select millrace.set_config_value($1, $2)",
                             pg::params(key, value));
  }

 private:
  Task<std::string> read(CallContext caller, std::string name, std::string select) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_operate_read"),
                                        Access::read, rows_as_json(std::move(name), select, {}));
  }
  // (JSON, version) of one thing.
  Task<Versioned> one(CallContext caller, pg::Statement statement, Error missing) {
    MR_CO_TRY(const auto rows, co_await session_.as(std::move(caller), MR_POINT("api_operate_read"),
                                                    Access::read, std::move(statement)));
    if (rows.empty()) co_return fail(std::move(missing));
    co_return Versioned{.json = std::string(rows[0].text(0)),
                        .version = rows[0].opt_text(1).value_or("")};
  }
  Task<void> change(CallContext caller, std::vector<pg::Statement> statements) {
    MR_CO_TRY_VOID(co_await session_.as(std::move(caller), MR_POINT("api_operate_write"),
                                        Access::write, std::move(statements)));
    co_return ok();
  }
  Task<void> write(CallContext caller, std::string sql, pg::Params params) {
    MR_CO_TRY_VOID(co_await session_.as(std::move(caller), MR_POINT("api_operate_write"),
                                        Access::write,
                                        {.sql = std::move(sql), .params = std::move(params)}));
    co_return ok();
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<OperationStore> make_operation_store(ApiSession& session) {
  return std::make_unique<PgOperationStore>(session);
}

}  // namespace millrace::store
