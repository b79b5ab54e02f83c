-- Running: worker processes, keeper election, cron, batches, dependencies.
-- Lock cost: new tables only. compat: rolling

-- One row per worker process: its liveness. Renewed by the process, deleted by takeover; never updated otherwise.
create table millrace.worker (
  worker_id     text not null,
  nonce         uuid not null,
  supervisor_id text,
  host          text not null,
  pid           integer not null,
  version       text not null,
  slots         integer not null,
  queues        text[] not null,
  job_types     text[] not null,
  lease         interval not null,
  started_at    timestamptz not null,
  beat_at       timestamptz not null,
  lease_until   timestamptz not null,
  draining      boolean not null default false,
  running       integer not null default 0,
  clock_skew_ms bigint not null default 0,
  constraint worker_pkey primary key (worker_id),
  constraint worker_nonce_key unique (nonce)
) with (fillfactor = 50);

create table millrace.keeper_lease (
  duty        text primary key,
  holder      text not null,
  token       uuid not null,
  lease_until timestamptz not null
) with (fillfactor = 50);

create table millrace.cron (
  cron_id        uuid not null default gen_random_uuid(),
  tenant_id      uuid not null,
  name           text not null,
  schedule       text not null,
  time_zone      text not null default 'UTC',
  job            jsonb not null,
  enabled        boolean not null default true,
  -- What to do with runs missed while no keeper was up: 'one' makes a single late run, 'skip' none.
  missed         text not null default 'one',
  next_due_at    timestamptz not null,
  last_due_at    timestamptz,
  last_job_id    uuid,
  last_error     text,
  created_at     timestamptz not null default clock_timestamp(),
  updated_at     timestamptz not null default clock_timestamp(),
  constraint cron_pkey primary key (cron_id),
  constraint cron_name_key unique (tenant_id, name),
  constraint cron_missed_check check (missed in ('one', 'skip'))
);
create index cron_due_idx on millrace.cron (next_due_at) where enabled;

create table millrace.batch (
  batch_id        uuid not null,
  tenant_id       uuid not null,
  name            text,
  total           integer not null default 0,
  completed       integer not null default 0,
  failed          integer not null default 0,
  cancelled       integer not null default 0,
  sealed_at       timestamptz,
  callback        jsonb,
  callback_on     text not null default 'finished',
  callback_job_id uuid,
  finished_at     timestamptz,
  created_at      timestamptz not null,
  created_by      text not null,
  constraint batch_pkey primary key (batch_id),
  constraint batch_callback_on_check check (callback_on in ('finished', 'completed')),
  constraint batch_counts_check check (completed >= 0 and failed >= 0 and cancelled >= 0)
) with (fillfactor = 50);
create index batch_tenant_idx on millrace.batch (tenant_id, batch_id);

create table millrace.dependency (
  job_id     uuid not null,
  depends_on uuid not null,
  tenant_id  uuid not null,
  mode       text not null,
  -- What a failed or cancelled prerequisite means: 'cancel' the job, or 'run' it all the same.
  on_failure text not null,
  constraint dependency_pkey primary key (job_id, depends_on),
  constraint dependency_mode_check check (mode in ('all', 'any')),
  constraint dependency_on_failure_check check (on_failure in ('cancel', 'run')),
  constraint dependency_self_check check (job_id <> depends_on)
);
create index dependency_depends_on_idx on millrace.dependency (depends_on);
