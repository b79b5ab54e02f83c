// The tables of other queues, as their own documents and migrations make them, reduced to what a
// mover of jobs meets: columns, defaults, checks and the indexes that promise something.
//
// Source describes one of them to the tests that hold for all: how to make it, how to fill it with
// `n` jobs that can be moved and some that cannot, and how its own workers take a job.
#pragma once

#include "sql/engine.h"

#include <ostream>
#include <string>
#include <vector>

namespace millrace::test {

inline constexpr const char* kGuardianTables = R"(
  create table public.job_queue (
    id uuid primary key default gen_random_uuid(), job_type text not null, job_name text,
    job_category text default 'standard', job_payload jsonb not null, status text default 'pending',
    priority integer default 5, scheduled_at timestamptz default now(), started_at timestamptz,
    completed_at timestamptz, retry_count integer default 0, max_retries integer default 6,
    worker_id text, heartbeat_at timestamptz, dead_letter_at timestamptz, error_details jsonb,
    job_result jsonb, created_at timestamptz default now(), updated_at timestamptz default now(),
    constraint job_queue_job_type_check check (job_type in (
      'fast_queue_security', 'fast_queue_ocr', 'fast_queue_spatial', 'ai_queue_pass1',
      'ai_queue_pass2', 'ai_queue_pass3', 'audit_cleanup', 'notification_delivery',
      'report_generation', 'backup_operation', 'system_maintenance', 'consent_verification')),
    constraint job_queue_status_check check (status in (
      'pending', 'processing', 'completed', 'failed', 'cancelled', 'retrying', 'deferred'))))";

inline constexpr const char* kGuardianV2Tables = R"(
  create table public.job_queue (
    id uuid primary key default gen_random_uuid(), job_type text not null,
    job_category text default 'standard', payload jsonb not null, status text default 'pending',
    priority integer default 5, scheduled_at timestamptz default now(), started_at timestamptz,
    completed_at timestamptz, retry_count integer default 0, max_retries integer default 6,
    worker_id text, error jsonb, created_at timestamptz default now()))";

inline constexpr const char* kExportTables = R"(
  create table public.export_jobs (
    id uuid primary key default gen_random_uuid(), user_id uuid not null,
    document_id uuid not null, format text not null check (format in ('pdf')),
    options jsonb not null, status text not null check (
      status in ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    progress integer not null default 0 check (progress between 0 and 100),
    attempts integer not null default 0, max_attempts integer not null default 5,
    run_after timestamptz, result_url text, file_size integer, page_count integer,
    error_message text, started_at timestamptz, completed_at timestamptz,
    created_at timestamptz not null default now()))";

inline constexpr const char* kBaseWorkerTables = R"(
  create table public.upload_jobs (
    job_id uuid primary key default gen_random_uuid(), user_id uuid not null,
    document_id uuid not null, status text not null check (status in (
      'uploaded', 'parse_queued', 'parsed', 'parse_validated', 'chunking', 'chunks_stored',
      'embedding_queued', 'embedding_in_progress', 'embeddings_stored', 'complete',
      'failed_parse', 'failed_chunking', 'failed_embedding')),
    raw_path text not null, parsed_path text, parsed_sha256 text,
    chunks_version text not null default 'markdown-simple@1',
    embed_model text default 'text-embedding-3-small', embed_version text default '1',
    progress jsonb default '{}', retry_count integer default 0, last_error jsonb,
    webhook_secret text, created_at timestamptz default now(),
    updated_at timestamptz default now()))";

inline constexpr const char* kPgBossTables = R"(
  create schema pgboss;
  create type pgboss.job_state as enum
    ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  create table pgboss.job (
    id uuid not null default gen_random_uuid(), name text not null,
    priority integer not null default 0, data jsonb,
    state pgboss.job_state not null default 'created', retry_limit integer not null default 2,
    retry_count integer not null default 0, retry_delay integer not null default 0,
    retry_backoff boolean not null default false, retry_delay_max integer,
    expire_seconds integer not null default 900, deletion_seconds integer not null default 604800,
    singleton_key text, singleton_on timestamp, group_id text, group_tier text,
    start_after timestamptz not null default now(), created_on timestamptz not null default now(),
    started_on timestamptz, completed_on timestamptz,
    keep_until timestamptz not null default now() + interval '14 days', output jsonb,
    dead_letter text, policy text, heartbeat_on timestamptz, heartbeat_seconds integer,
    blocked boolean not null default false, blocking boolean not null default false,
    pending_dependencies integer not null default 0, source_name text, source_id uuid,
    source_created_on timestamptz, source_retry_count integer) partition by list (name);
  alter table pgboss.job add primary key (name, id);
  create table pgboss.job_common partition of pgboss.job default;
  create unique index on pgboss.job_common (name, coalesce(singleton_key, ''))
    where state = 'created' and policy = 'short';
  create unique index on pgboss.job_common (name, coalesce(singleton_key, ''))
    where state = 'active' and policy = 'singleton';
  create unique index on pgboss.job_common (name, coalesce(singleton_key, ''))
    where state <= 'active' and policy = 'exclusive')";

inline constexpr const char* kPgBoss9Tables = R"(
  create schema pgboss;
  create type pgboss.job_state as enum
    ('created', 'retry', 'active', 'completed', 'expired', 'cancelled', 'failed');
  create table pgboss.job (
    id uuid primary key not null default gen_random_uuid(), name text not null,
    priority integer not null default 0, data jsonb,
    state pgboss.job_state not null default 'created', retrylimit integer not null default 0,
    retrycount integer not null default 0, retrydelay integer not null default 0,
    retrybackoff boolean not null default false, startafter timestamptz not null default now(),
    startedon timestamptz, singletonkey text, singletonon timestamp,
    expirein interval not null default interval '15 minutes',
    createdon timestamptz not null default now(), completedon timestamptz,
    keepuntil timestamptz not null default now() + interval '14 days',
    on_complete boolean not null default false, output jsonb))";

// `prefix` is "_private_" since 0.16, and nothing before.
inline std::string graphile_tables(const std::string& prefix = "_private_") {
  return fmt::format(R"(
  create schema graphile_worker;
  create table graphile_worker.{0}job_queues (
    id int primary key generated always as identity,
    queue_name text not null unique check (length(queue_name) <= 128), locked_at timestamptz,
    locked_by text, is_available boolean generated always as ((locked_at is null)) stored not null);
  create table graphile_worker.{0}tasks (
    id int primary key generated always as identity,
    identifier text not null unique check (length(identifier) <= 128));
  create table graphile_worker.{0}jobs (
    id bigint primary key generated always as identity, job_queue_id int null, task_id int not null,
    payload json default '{{}}'::json not null, priority smallint default 0 not null,
    run_at timestamptz default now() not null, attempts smallint default 0 not null,
    max_attempts smallint default 25 not null check (max_attempts >= 1), last_error text,
    created_at timestamptz default now() not null, updated_at timestamptz default now() not null,
    key text unique check (length(key) > 0 and length(key) <= 512), locked_at timestamptz,
    locked_by text, revision integer default 0 not null, flags jsonb,
    is_available boolean generated always as ((locked_at is null and attempts < max_attempts))
      stored not null))",
                     prefix);
}

struct Source {
  std::string name;
  std::string schema;
  std::string tables;
  std::string fill;   // {} is n.
  std::string live;   // How many are neither finished nor failed.
  std::string claim;  // Takes one that waits and answers its id.
  std::string rows;   // Everything, as one text.
  std::string queue;  // Where its jobs go.
  int more = 0;       // Movable ones besides the n.
  int left = 0;       // Live ones that stay, and why, in the order of the reasons.
  std::vector<std::string> reasons = {};
};

inline void PrintTo(const Source& source, std::ostream* out) { *out << source.name; }

inline Source guardian_source() {
  return {.name = "guardian",
          .schema = "public",
          .tables = kGuardianTables,
          .fill = R"(
  insert into public.job_queue (job_type, job_name, job_payload, priority, created_at)
  select 'audit_cleanup', 'job ' || i, jsonb_build_object('n', i), i % 10,
         now() - interval '1 hour' + make_interval(secs => i) from generate_series(1, {}) i;
  insert into public.job_queue (job_type, job_payload, status) values
    ('audit_cleanup', '{{"n": 0}}', 'retrying'), ('audit_cleanup', '{{"n": 0}}', 'processing'),
    ('report_generation', '{{"n": 0}}', 'processing'), ('audit_cleanup', '{{"n": 0}}', 'deferred'),
    ('audit_cleanup', '{{"n": 0}}', 'completed'), ('audit_cleanup', '{{"n": 0}}', 'failed'),
    ('audit_cleanup', '{{"n": 0}}', 'cancelled'))",
          .live =
              "select count(*) from public.job_queue where status in "
              "('pending', 'processing', 'retrying', 'deferred')",
          .claim = R"(
  update public.job_queue set status = 'processing', started_at = now(), worker_id = 'w'
   where id = (select id from public.job_queue where status = 'pending' and scheduled_at <= now()
                order by priority desc, created_at for update skip locked limit 1) returning id)",
          .rows = "select string_agg(t::text, '|' order by t.id) from public.job_queue t",
          .queue = "system",
          .more = 1,
          .left = 3,
          .reasons = {"deferred in the source", "running", "running"}};
}

inline Source export_source() {
  return {.name = "export",
          .schema = "public",
          .tables = kExportTables,
          .fill = R"(
  insert into public.export_jobs (user_id, document_id, format, options, status)
  select ('00000000-0000-4000-8000-' || lpad((i % 7)::text, 12, '0'))::uuid, gen_random_uuid(),
         'pdf', '{{"quality": "high"}}', 'pending' from generate_series(1, {}) i;
  insert into public.export_jobs (user_id, document_id, format, options, status, attempts)
  select gen_random_uuid(), gen_random_uuid(), 'pdf', '{{}}', s, 1
    from unnest(array['processing', 'completed', 'failed', 'cancelled']) s)",
          .live =
              "select count(*) from public.export_jobs where status in "
              "('pending', 'processing')",
          .claim = R"(
  update public.export_jobs set status = 'processing', attempts = attempts + 1, started_at = now()
   where id = (select id from public.export_jobs where status = 'pending'
                  and (run_after is null or run_after <= now())
                order by created_at for update skip locked limit 1) returning id)",
          .rows = "select string_agg(t::text, '|' order by t.id) from public.export_jobs t",
          .queue = "export",
          .left = 1,
          .reasons = {"running"}};
}

inline Source baseworker_source() {
  return {.name = "baseworker",
          .schema = "public",
          .tables = kBaseWorkerTables,
          .fill = R"(
  insert into public.upload_jobs (user_id, document_id, status, raw_path)
  select gen_random_uuid(), gen_random_uuid(),
         (array['uploaded', 'parsed', 'parse_validated', 'chunking', 'chunks_stored',
                'embedding_queued', 'embedding_in_progress', 'embeddings_stored'])[1 + i % 8],
         'raw/' || i from generate_series(1, {}) i;
  insert into public.upload_jobs (user_id, document_id, status, raw_path)
  select gen_random_uuid(), gen_random_uuid(), s, 'raw'
    from unnest(array['parse_queued', 'complete', 'failed_parse', 'failed_embedding']) s)",
          .live =
              "select count(*) from public.upload_jobs where status not in "
              "('complete', 'failed_parse', 'failed_chunking', 'failed_embedding')",
          // A worker of this one runs a job to its end in the transaction that took it.
          .claim = R"(
  update public.upload_jobs set status = 'complete', updated_at = now()
   where job_id = (select job_id from public.upload_jobs where status in
                    ('uploaded', 'parsed', 'parse_validated', 'chunking', 'chunks_stored',
                     'embedding_queued', 'embedding_in_progress', 'embeddings_stored')
                    order by created_at for update skip locked limit 1) returning job_id)",
          .rows = "select string_agg(t::text, '|' order by t.job_id) from public.upload_jobs t",
          .queue = "ingest",
          .left = 1,
          .reasons = {"waits for the callback of the parser"}};
}

inline Source pg_boss_source() {
  return {.name = "pg-boss",
          .schema = "pgboss",
          .tables = kPgBossTables,
          .fill = R"(
  insert into pgboss.job (name, data, priority, policy)
  select 'mail', jsonb_build_object('n', i), i % 5, 'standard' from generate_series(1, {}) i;
  insert into pgboss.job (name, data, state, started_on, policy) values
    ('mail', '{{"n": 0}}', 'retry', now(), 'standard'),
    ('mail', '{{"n": 0}}', 'active', now(), 'standard'),
    ('mail', '{{"n": 0}}', 'completed', now(), 'standard'),
    ('mail', '{{"n": 0}}', 'failed', now(), 'standard'),
    ('mail', '{{"n": 0}}', 'cancelled', now(), 'standard'),
    ('__pgboss__send-it', '{{"n": 0}}', 'created', null, 'standard'))",
          .live = "select count(*) from pgboss.job where state in ('created', 'retry', 'active')",
          .claim = R"(
  with next as (
    select id from pgboss.job where name = 'mail' and state < 'active' and not blocked
       and start_after <= now() order by priority desc, created_on, id limit 1
       for update skip locked)
  update pgboss.job j set state = 'active', started_on = now() from next
   where j.name = 'mail' and j.id = next.id returning j.id)",
          .rows = "select string_agg(t::text, '|' order by t.id) from pgboss.job t",
          .queue = "default",
          .more = 1,
          .left = 2,
          .reasons = {"of pg-boss itself", "running"}};
}

inline Source graphile_source() {
  return {.name = "graphile-worker",
          .schema = "graphile_worker",
          .tables = graphile_tables(),
          .fill = R"(
  insert into graphile_worker._private_tasks (identifier) values ('mail'), ('report');
  insert into graphile_worker._private_job_queues (queue_name, locked_at)
  values ('free', null), ('busy', now());
  insert into graphile_worker._private_jobs (task_id, payload, priority, job_queue_id)
  select 1 + i % 2, jsonb_build_object('n', i)::json, i % 5, case when i % 3 = 0 then 1 end
    from generate_series(1, {}) i;
  insert into graphile_worker._private_jobs (task_id, payload, attempts, max_attempts, locked_at,
                                             job_queue_id) values
    (1, '{{"n": 0}}', 1, 25, now(), 2), (1, '{{"n": 0}}', 0, 25, null, 2),
    (2, '{{"n": 0}}', 25, 25, null, null), (2, '{{"n": 0}}', 25, 25, now(), null))",
          .live =
              "select count(*) from graphile_worker._private_jobs "
              "where attempts < max_attempts or locked_at is not null",
          .claim = R"(
  with j as (
    select jobs.job_queue_id, jobs.id from graphile_worker._private_jobs jobs
     where jobs.is_available and run_at <= now() and (jobs.job_queue_id is null
        or jobs.job_queue_id in (select id from graphile_worker._private_job_queues q
                                  where q.is_available for update skip locked))
     order by priority, run_at limit 1 for update skip locked),
  q as (update graphile_worker._private_job_queues q set locked_by = 'w', locked_at = now() from j
         where q.id = j.job_queue_id)
  update graphile_worker._private_jobs jobs
     set attempts = jobs.attempts + 1, locked_by = 'w', locked_at = now() from j
   where jobs.id = j.id returning jobs.id)",
          .rows =
              "select string_agg(t::text, '|' order by t.id) "
              "from graphile_worker._private_jobs t",
          .queue = "default",
          .left = 3,
          .reasons = {"its queue is busy", "running", "running"}};
}

inline std::vector<Source> all_sources() {
  return {guardian_source(), export_source(), baseworker_source(), pg_boss_source(),
          graphile_source()};
}

// --- Moving ---

struct Moved {
  std::string source_type;
  std::string source_id;
  std::string job_type;
  std::string job_id;  // Empty: left alone.
  std::string reason;
};

struct BatchOptions {
  int limit = 1000;
  std::string map = "{}";
  std::string skip = "{}";  // An array literal.
};

inline std::vector<Moved> move_batch(Session& sql, const std::string& source,
                                     const std::string& schema, const BatchOptions& options = {}) {
  std::vector<Moved> all;
  for (const auto row :
       sql.rows("select source_type, source_id, job_type, job_id, reason "
                "from millrace.import_batch($1, $2, $3::int, $4::jsonb, "
                "$5::text[])",
                pg::params(source, schema, options.limit, options.map, options.skip))) {
    all.push_back({std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                   row.opt_text(3).value_or(""), row.opt_text(4).value_or("")});
  }
  return all;
}

// "to move 3", or "left alone 1: running; 2: …", by reason.
inline std::string report(Session& sql, const std::string& source, const std::string& schema,
                          const std::string& map = "{}") {
  return sql.value(
      "select coalesce(string_agg(coalesce(reason, 'to move') || ' ' || jobs, '; ' order by reason "
      "nulls first), 'nothing') from (select reason, sum(jobs) as jobs "
      "from millrace.import_report($1, $2, $3::jsonb) group by reason) r",
      pg::params(source, schema, map));
}

}  // namespace millrace::test
