// AdminStore: queues, limits, cron, batches, configuration.
#include "store/admin_store.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::store {
namespace {

constexpr std::string_view kCounts =
    "select c.queue, sum(c.enqueued)::bigint as enqueued, sum(c.completed)::bigint as completed,"
    "       sum(c.failed)::bigint as failed, sum(c.cancelled)::bigint as cancelled,"
    "       sum(c.redriven)::bigint as redriven, sum(c.ready)::bigint as ready,"
    "       sum(c.delayed)::bigint as delayed, sum(c.leased)::bigint as leased"
    "  from millrace.queue_counts() c group by c.queue";

// A call whose only argument is a name: all that can be invalid is that nothing has it.
Error name_not_found(Error error) {
  if (error.sqlstate == "MR024" || error.sqlstate == "MR018") error.kind = ErrorKind::not_found;
  return error;
}

}  // namespace

Result<json::Array> AdminStore::list_queues() {
  return rows(fmt::format(
      "select q.queue, coalesce(c.ready, 0) as ready, coalesce(c.delayed, 0) as delayed,"
      "       coalesce(c.leased, 0) as leased, coalesce(c.enqueued, 0) as enqueued,"
      "       coalesce(c.completed, 0) as completed, coalesce(c.failed, 0) as failed,"
      "       coalesce(c.cancelled, 0) as cancelled, coalesce(c.redriven, 0) as redriven,"
      "       q.paused_at, q.paused_reason, q.paused_by, q.max_attempts, q.backoff_base,"
      "       q.backoff_factor, q.backoff_cap, q.jitter_low, q.jitter_high, q.lease, q.beat,"
      "       q.run_timeout, q.reclaim_jitter, q.max_age, q.max_snoozes, q.concurrency_max,"
      "       q.key_concurrency_max, q.depth_max, q.priority_default, q.age_step"
      "  from millrace.queue q left join ({}) c on c.queue = q.queue order by q.queue",
      kCounts));
}

Result<json::Array> AdminStore::list_job_types() {
  return rows(
      "select t.job_type, q.queue, t.enabled, t.required_keys, t.provider_name, t.api_endpoint"
      "  from millrace.job_type t join millrace.queue q on q.queue_id = t.queue_id"
      " order by t.job_type");
}

Result<bool> AdminStore::queue_exists(const std::string& queue) {
  MR_TRY(const auto found,
         call("select exists (select from millrace.queue q where q.queue = $1) as found",
              pg::params(queue), true));
  return found[0].boolean("found");
}

Result<void> AdminStore::set_queue(const std::string& queue, const json::Object& policy) {
  MR_TRY_VOID(
      call("select millrace.set_queue($1, $2::jsonb)", pg::Params().add(queue).add_json(policy)));
  return {};
}

Result<void> AdminStore::bind_providers(const json::Object& bindings) {
  MR_TRY_VOID(call("select millrace.bind_providers($1::jsonb)", pg::Params().add_json(bindings)));
  return {};
}

Result<std::vector<std::pair<std::string, std::string>>> AdminStore::register_pipelines(
    const json::Array& pipelines) {
  MR_TRY(const auto kept, call("select k ->> 'job_type' as job_type, k ->> 'queue' as queue"
                               "  from millrace.register_pipelines($1::jsonb) k order by 1, 2",
                               pg::Params().add_json(json::Value(pipelines))));
  std::vector<std::pair<std::string, std::string>> types;
  for (const auto row : kept) types.emplace_back(row.text("job_type"), row.text("queue"));
  return types;
}

Result<void> AdminStore::set_job_type(const std::string& job_type, const json::Object& policy) {
  MR_TRY_VOID(call("select millrace.set_job_type($1, $2::jsonb)",
                   pg::Params().add(job_type).add_json(policy)));
  return {};
}

Result<void> AdminStore::ensure_job_types(const std::vector<std::string>& types,
                                          const std::string& queue) {
  MR_TRY_VOID(call("select millrace.ensure_job_types($1::text[], $2)",
                   pg::Params().add_array(types).add(queue)));
  return {};
}

Result<void> AdminStore::pause_queue(const std::string& queue, const std::string& reason) {
  MR_TRY_VOID(call("select millrace.pause_queue($1, $2)", pg::params(queue, reason)));
  return {};
}

Result<void> AdminStore::resume_queue(const std::string& queue) {
  MR_TRY_VOID(call("select millrace.resume_queue($1)", pg::params(queue)));
  return {};
}

Result<Counts> AdminStore::counts(std::optional<std::string> queue) {
  MR_TRY(const auto result,
         call(fmt::format("select coalesce(sum(c.enqueued), 0)::bigint as enqueued,"
                          " coalesce(sum(c.completed), 0)::bigint as completed,"
                          " coalesce(sum(c.failed), 0)::bigint as failed,"
                          " coalesce(sum(c.cancelled), 0)::bigint as cancelled,"
                          " coalesce(sum(c.redriven), 0)::bigint as redriven,"
                          " coalesce(sum(c.ready), 0)::bigint as ready,"
                          " coalesce(sum(c.delayed), 0)::bigint as delayed,"
                          " coalesce(sum(c.leased), 0)::bigint as leased"
                          " from ({}) c where $1::text is null or c.queue = $1",
                          kCounts),
              pg::params(queue), true));
  const auto row = result[0];
  return Counts{.enqueued = row.i64("enqueued"),
                .completed = row.i64("completed"),
                .failed = row.i64("failed"),
                .cancelled = row.i64("cancelled"),
                .redriven = row.i64("redriven"),
                .ready = row.i64("ready"),
                .delayed = row.i64("delayed"),
                .leased = row.i64("leased")};
}

Result<std::vector<TypeCounts>> AdminStore::count_types() {
  MR_TRY(const auto result,
         call("select t.job_type, coalesce(sum(x.n) filter (where x.place = 'ready'), 0)::bigint"
              "       as ready,"
              "  coalesce(sum(x.n) filter (where x.place = 'delayed'), 0)::bigint as waiting,"
              "  coalesce(sum(x.n) filter (where x.place = 'lease'), 0)::bigint as running,"
              "  coalesce(sum(x.n) filter (where x.place = 'completed'), 0)::bigint as completed,"
              "  coalesce(sum(x.n) filter (where x.place = 'failed'), 0)::bigint as failed,"
              "  coalesce(sum(x.n) filter (where x.place = 'cancelled'), 0)::bigint as cancelled"
              " from (select r.type_id, 'ready' as place, count(*) as n from millrace.ready r"
              "        group by r.type_id"
              "  union all select d.type_id, 'delayed', count(*) from millrace.delayed d"
              "        group by d.type_id"
              "  union all select l.type_id, 'lease', count(*) from millrace.lease l"
              "        group by l.type_id"
              "  union all select w.type_id, 'ready', count(*) from millrace.lane_waiting w"
              "        group by w.type_id"
              "  union all select o.type_id, 'lease', sum(bit_count(o.held))"
              "        from millrace.claim_open o group by o.type_id"
              "  union all select c.type_id, 'completed', sum(bit_count(d.done))"
              "        from millrace.claim_done d"
              "        join millrace.claim c using (claim_id, claimed_at) group by c.type_id"
              "  union all select h.type_id, h.status::text, count(*) from millrace.job_history h"
              "        where h.redriven_at is null group by h.type_id, h.status) x"
              " join millrace.job_type t on t.type_id = x.type_id"
              " group by t.job_type order by t.job_type",
              {}, true));
  std::vector<TypeCounts> out;
  for (const auto row : result) {
    out.push_back({.job_type = std::string(row.text("job_type")),
                   .ready = row.i64("ready"),
                   .waiting = row.i64("waiting"),
                   .running = row.i64("running"),
                   .completed = row.i64("completed"),
                   .failed = row.i64("failed"),
                   .cancelled = row.i64("cancelled")});
  }
  return out;
}

Result<std::vector<JobState>> AdminStore::job_states() {
  MR_TRY(const auto result, call("select j.job_id, j.job_type, j.status from millrace.jobs j"
                                 " order by j.job_id",
                                 {}, true));
  std::vector<JobState> out;
  for (const auto row : result) {
    out.push_back({row.id<JobId>("job_id"), std::string(row.text("job_type")),
                   std::string(row.text("status"))});
  }
  return out;
}

Result<json::Array> AdminStore::list_limits() {
  return rows("select l.* from millrace.limits_overview() l order by 1, 2");
}

Result<void> AdminStore::set_limit(const std::string& provider, const std::string& endpoint,
                                   const json::Object& values) {
  MR_TRY_VOID(call("select millrace.set_limit($1, $2, $3::jsonb)",
                   pg::Params().add(provider).add(endpoint).add_json(values)));
  return {};
}

Result<void> AdminStore::override_limit(const std::string& provider, const std::string& endpoint,
                                        const json::Object& values, const std::string& reason,
                                        std::optional<std::chrono::milliseconds> ttl) {
  pg::Params params;
  params.add(provider).add(endpoint).add_json(values).add(reason);
  if (ttl) {
    params.add(std::chrono::microseconds(*ttl));
  } else {
    params.add_null();
  }
  MR_TRY_VOID(call("select millrace.override_limit($1, $2, $3::jsonb, $4, $5::interval)",
                   std::move(params)));
  return {};
}

Result<void> AdminStore::clear_override(const std::string& provider, const std::string& endpoint) {
  MR_TRY_VOID(call("select millrace.clear_override($1, $2)", pg::params(provider, endpoint)));
  return {};
}

Result<void> AdminStore::reset_breaker(const std::string& provider, const std::string& endpoint) {
  MR_TRY_VOID(call("select millrace.reset_breaker($1, $2)", pg::params(provider, endpoint)));
  return {};
}

Result<json::Array> AdminStore::list_cron() {
  return rows(
      "select c.name, c.schedule, c.time_zone, c.enabled, c.missed, c.next_due_at, c.last_due_at,"
      "       c.last_job_id, c.last_error, c.job, c.tenant_id"
      "  from millrace.cron c"
      " where millrace.tenant_scope() is null or c.tenant_id = millrace.tenant_scope()"
      " order by c.name");
}

Result<Uuid> AdminStore::set_cron(const std::string& name, const std::string& schedule,
                                  const json::Object& job, const json::Object& options) {
  pg::Params params;
  params.add(name).add(schedule).add_json(job).add_json(options);
  MR_TRY(const auto result,
         call("select millrace.set_cron($1, $2, $3::jsonb, $4::jsonb) as id", std::move(params)));
  return result[0].uuid("id");
}

Result<void> AdminStore::delete_cron(const std::string& name) {
  auto deleted = call("select millrace.delete_cron($1)", pg::params(name));
  if (!deleted) return fail(name_not_found(deleted.error()));
  return {};
}

Result<JobId> AdminStore::cron_now(const std::string& name) {
  const auto result = call("select millrace.cron_now($1) as id", pg::params(name));
  if (!result) return fail(name_not_found(result.error()));
  return (*result)[0].id<JobId>("id");
}

Result<json::Array> AdminStore::list_batches(std::int64_t limit) {
  return rows(
      "select b.batch_id, b.name, b.total, b.completed, b.failed, b.cancelled, b.sealed_at,"
      "       b.finished_at, b.callback_job_id, b.created_at"
      "  from millrace.batch b"
      " where millrace.tenant_scope() is null or b.tenant_id = millrace.tenant_scope()"
      " order by b.batch_id desc limit $1",
      pg::params(limit));
}

Result<json::Object> AdminStore::get_batch(const BatchId& id) {
  auto batch = object("select millrace.get_batch($1)::text", pg::params(id),
                      fmt::format("batch {} does not exist", id));
  if (!batch) return fail(name_not_found(batch.error()));
  return batch;
}

Result<BatchId> AdminStore::create_batch(const json::Array& jobs, const json::Object& options) {
  pg::Params params;
  params.add_json(json::Value(jobs)).add_json(options);
  MR_TRY(const auto result,
         call("select millrace.create_batch($1::jsonb, $2::jsonb) as id", std::move(params)));
  return result[0].id<BatchId>("id");
}

Result<json::Array> AdminStore::list_configuration() {
  return rows(
      "select c.config_key, case when c.is_sensitive then '***' else c.config_value end"
      "       as config_value, c.description, c.updated_at"
      "  from millrace.system_configuration c order by c.config_key");
}

Result<void> AdminStore::set_configuration(const std::string& key, const std::string& value) {
  MR_TRY_VOID(call("select millrace.set_config_value($1, $2)", pg::params(key, value)));
  return {};
}

}  // namespace millrace::store
