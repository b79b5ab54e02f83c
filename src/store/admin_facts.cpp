// AdminStore: who runs, what happened, and the facts that doctor judges.
#include "store/admin_store.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace millrace::store {

Result<json::Array> AdminStore::list_workers() {
  return rows(
      "select w.worker_id, w.host, w.pid, w.version, w.slots, w.running, w.draining, w.queues,"
      "       w.job_types, w.started_at, w.beat_at, w.clock_skew_ms, w.supervisor_id,"
      "       w.lease_until >= millrace.now() as alive,"
      "       round(extract(epoch from millrace.now() - w.beat_at)::numeric, 1) as beat_age_seconds"
      "  from millrace.worker w order by w.worker_id");
}

Result<json::Array> AdminStore::list_audit(std::int64_t limit) {
  return rows(
      "select a.audit_id, a.at, a.actor, a.worker_id, a.action, a.operation, a.table_name,"
      "       a.record_id, cardinality(a.job_ids) as jobs, a.job_ids[1:3] as first_jobs, a.reason,"
      "       a.category, a.tenant_id"
      "  from millrace.audit a"
      " where millrace.tenant_scope() is null or a.tenant_id = millrace.tenant_scope()"
      " order by a.at desc, a.audit_id desc limit $1",
      pg::params(limit));
}

Result<json::Array> AdminStore::job_audit(const JobId& id) {
  return rows("select a.* from millrace.job_audit($1) a", pg::params(id));
}

Result<json::Array> AdminStore::verify_audit() {
  if (tenant_) {
    return rows("select v.* from millrace.verify_audit($1) v", pg::params(*tenant_));
  }
  return rows("select v.* from millrace.verify_audit() v");
}

Result<json::Object> AdminStore::server_facts() {
  return object(
      "select jsonb_build_object("
      "  'version', current_setting('server_version'),"
      "  'version_num', current_setting('server_version_num')::int,"
      "  'database', current_database(), 'user', current_user,"
      "  'in_recovery', pg_is_in_recovery(),"
      "  'fsync', current_setting('fsync'),"
      "  'synchronous_commit', current_setting('synchronous_commit'),"
      "  'full_page_writes', current_setting('full_page_writes'),"
      "  'autovacuum', current_setting('autovacuum'),"
      "  'shared_buffers', current_setting('shared_buffers'),"
      "  'max_connections', current_setting('max_connections')::int,"
      "  'connections', (select count(*) from pg_stat_activity where backend_type = 'client "
      "backend'),"
      "  'time_ms', (extract(epoch from clock_timestamp()) * 1000)::bigint,"
      "  'has_schema', to_regnamespace('millrace') is not null)::text",
      {}, "the server did not answer");
}

Result<json::Array> AdminStore::missing_grants() {
  // What each engine role must be able to call to do its work at all.
  return rows(
      "with wanted (role_name, function_name) as (values"
      "  ('millrace_worker', 'claim_jobs'), ('millrace_worker', 'settle_jobs'),"
      "  ('millrace_worker', 'complete_jobs'), ('millrace_worker', 'extend_leases'),"
      "  ('millrace_worker', 'complete_claims'),"
      "  ('millrace_worker', 'beat_worker'), ('millrace_worker', 'register_worker'),"
      "  ('millrace_worker', 'retire_worker'), ('millrace_worker', 'report_progress'),"
      "  ('millrace_worker', 'append_logs'), ('millrace_worker', 'unheld_leases'),"
      "  ('millrace_keeper', 'elect'), ('millrace_keeper', 'reclaim'),"
      "  ('millrace_keeper', 'promote_due'), ('millrace_keeper', 'advance'),"
      "  ('millrace_keeper', 'work_at_hand'),"
      "  ('millrace_keeper', 'run_cron'), ('millrace_keeper', 'fold_counters'),"
      "  ('millrace_keeper', 'maintain_partitions'), ('millrace_keeper', 'seal_audit'),"
      "  ('millrace_api', 'enqueue_jobs'), ('millrace_api', 'cancel_jobs'),"
      "  ('millrace_api', 'redrive_jobs'), ('service_role', 'enqueue_jobs'),"
      "  (current_user, 'enqueue_jobs'), (current_user, 'cancel_jobs'))"
      "select w.role_name, w.function_name,"
      "       case when r.oid is null then 'role does not exist'"
      "            when p.oid is null then 'function does not exist'"
      "            else 'no execute privilege' end as problem"
      "  from wanted w"
      "  left join pg_roles r on r.rolname = w.role_name"
      "  left join pg_proc p on p.proname = w.function_name"
      "       and p.pronamespace = to_regnamespace('millrace')"
      " where case when r.oid is null or p.oid is null then true"
      "            else not (has_function_privilege(r.oid, p.oid, 'execute')"
      "                 and has_schema_privilege(r.oid, p.pronamespace, 'usage')) end"
      " order by 1, 2");
}

Result<json::Array> AdminStore::horizon() {
  return rows(
      "select h.*, d.dead_rows, d.dead_table from ("
      "select a.pid, a.application_name, a.usename, a.state,"
      "       extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.query_start))::bigint"
      "         as age_seconds,"
      "       a.query_start, left(regexp_replace(a.query, '\\s+', ' ', 'g'), 80) as query,"
      "       age(a.backend_xmin) as xmin_age, 'session' as kind"
      "  from pg_stat_activity a"
      " where a.backend_xmin is not null and a.pid <> pg_backend_pid()"
      "   and a.backend_type = 'client backend' and a.datname = current_database()"
      " union all "
      "select null, p.gid, p.owner::text, 'prepared',"
      "       extract(epoch from clock_timestamp() - p.prepared)::bigint, p.prepared, null,"
      "       age(p.transaction), 'prepared transaction'"
      "  from pg_prepared_xacts p where p.database = current_database()"
      " union all "
      "select s.active_pid, s.slot_name::text, null, case when s.active then 'active' else"
      "       'inactive' end, null, null, null, greatest(age(s.xmin), age(s.catalog_xmin)),"
      "       'replication slot'"
      "  from pg_replication_slots s where s.xmin is not null or s.catalog_xmin is not null) h"
      // What it costs: dead rows that are kept, and where most of them are.
      " cross join (select coalesce(sum(s.n_dead_tup), 0)::bigint as dead_rows,"
      "         (array_agg(s.relname::text order by s.n_dead_tup desc))[1] as dead_table"
      "    from pg_stat_user_tables s where s.schemaname = 'millrace') d"
      " order by h.age_seconds desc nulls last limit 20");
}

Result<json::Array> AdminStore::hot_tables() {
  return rows(
      "select s.relname as table_name, s.n_live_tup as live, s.n_dead_tup as dead,"
      "       pg_total_relation_size(s.relid) as bytes, s.last_autovacuum, s.last_vacuum"
      "  from pg_stat_user_tables s"
      " where s.schemaname = 'millrace' and s.relname in ('ready', 'delayed', 'lease', 'worker',"
      "       'lane_head', 'claim_open',"
      "       'counter', 'counter_delta', 'handoff', 'dedupe_key', 'serial_member', 'key_gate',"
      "       'queue_slot', 'provider_bucket', 'provider_slot', 'api_rate_limits', 'keeper_lease')"
      " order by s.n_dead_tup desc");
}

Result<json::Object> AdminStore::stuck_work() {
  return object(
      "select jsonb_build_object("
      "  'keeper_holder', k.holder,"
      "  'keeper_alive', coalesce(k.lease_until >= millrace.now(), false),"
      "  'expired_leases', (select count(*) from (select from millrace.lease l"
      "     where l.lease_until < millrace.now() - interval '5 seconds' limit 100000) x),"
      "  'orphaned_leases', (select coalesce(sum(x.jobs), 0) from ("
      "     select l.process, 1 as jobs from millrace.lease l where l.process is not null"
      "     union all select o.process, bit_count(o.held) from millrace.claim_open o) x"
      "     where not exists (select from millrace.worker w where w.nonce = x.process"
      "         and w.lease_until >= millrace.now() - interval '5 seconds')),"
      "  'overdue', (select count(*) from (select from millrace.delayed d"
      "     where d.due_at < millrace.now() - interval '5 seconds' limit 100000) x),"
      "  'oldest_overdue_seconds', (select extract(epoch from millrace.now() - "
      "min(d.due_at))::bigint"
      "     from millrace.delayed d where d.due_at < millrace.now() - interval '5 seconds'),"
      "  'oldest_ready_seconds', (select extract(epoch from millrace.now() - "
      "min(r.ready_at))::bigint"
      "     from ((select r.ready_at from millrace.ready r order by r.ready_seq limit 1000)"
      "           union all select g.ready_at from millrace.lane_groups(null, null, null, null) g) "
      "r),"
      "  'handoffs', (select count(*) from (select from millrace.handoff h limit 100000) x),"
      "  'dead_workers', (select count(*) from millrace.worker w"
      "     where w.lease_until < millrace.now()))::text"
      " from (values (1)) one left join millrace.keeper_lease k on k.duty = 'keeper'",
      {}, "no answer");
}

Result<std::int64_t> AdminStore::foreign_lanes() {
  MR_TRY(const auto result,
         call("select count(*) as lanes from millrace.stamps_ahead()", {}, true));
  return result[0].i64("lanes");
}

Result<void> AdminStore::refuse_foreign_lanes() {
  MR_TRY(const auto lanes, foreign_lanes());
  if (lanes == 0) return {};
  return fail(Error{.kind = ErrorKind::conflict,
                    .message = "this database was restored from another server",
                    .sqlstate = "MR025",
                    .hint = "run 'millrace restore-check'"});
}

Result<Restamped> AdminStore::restamp_lanes() {
  MR_TRY(const auto result, call("select r.lanes, r.jobs from millrace.restamp_lanes() r"));
  return Restamped{.lanes = result[0].i64("lanes"), .jobs = result[0].i64("jobs")};
}

Result<json::Array> AdminStore::types_without_worker() {
  return rows(
      "select q.queue, t.job_type, n.jobs"
      "  from millrace.queue q cross join millrace.job_type t"
      "  cross join lateral (select count(*) as jobs from ("
      "     (select from millrace.ready r"
      "       where r.queue_id = q.queue_id and r.type_id = t.type_id limit 10000)"
      "     union all (select from millrace.lane_waiting w"
      "       where w.queue_id = q.queue_id and w.type_id = t.type_id limit 10000)) x) n"
      " where n.jobs > 0 and not exists (select from millrace.worker w"
      "   where w.lease_until >= millrace.now() and t.job_type = any (w.job_types)"
      "     and (cardinality(w.queues) = 0 or q.queue = any (w.queues)))"
      " order by n.jobs desc, q.queue, t.job_type");
}

Result<json::Array> AdminStore::counter_mismatches() {
  // One statement, one snapshot: counters and tables are compared at the same instant.
  return rows(
      "with counted as ("
      "  select x.queue_id, sum(x.ready) as ready, sum(x.delayed) as delayed,"
      "         sum(x.leased) as leased from ("
      "    select r.queue_id, count(*) as ready, 0 as delayed, 0 as leased"
      "      from millrace.ready r group by r.queue_id"
      "    union all select d.queue_id, 0, count(*), 0 from millrace.delayed d group by d.queue_id"
      "    union all select l.queue_id, 0, 0, count(*) from millrace.lease l group by l.queue_id"
      "    union all select w.queue_id, count(*), 0, 0 from millrace.lane_waiting w group by 1"
      "    union all select o.queue_id, 0, 0, sum(bit_count(o.held)) from millrace.claim_open o"
      "      group by 1"
      "  ) x group by x.queue_id"
      "), kept as ("
      "  select c.queue_id, sum(c.ready) as ready, sum(c.delayed) as delayed,"
      "         sum(c.leased) as leased from ("
      "    select c.queue_id, c.ready, c.delayed, c.leased from millrace.counter c"
      "    union all select d.queue_id, d.ready, d.delayed, d.leased from millrace.counter_delta d"
      "  ) c group by c.queue_id"
      ") "
      "select q.queue, coalesce(c.ready, 0) as ready, coalesce(k.ready, 0) as counter_ready,"
      "       coalesce(c.delayed, 0) as delayed, coalesce(k.delayed, 0) as counter_delayed,"
      "       coalesce(c.leased, 0) as leased, coalesce(k.leased, 0) as counter_leased"
      "  from millrace.queue q left join counted c on c.queue_id = q.queue_id"
      "  left join kept k on k.queue_id = q.queue_id"
      " where (coalesce(c.ready, 0), coalesce(c.delayed, 0), coalesce(c.leased, 0))"
      "    is distinct from (coalesce(k.ready, 0), coalesce(k.delayed, 0), coalesce(k.leased, 0))"
      " order by q.queue");
}

}  // namespace millrace::store
