-- Jobs. The fact is written once; a live job lies in exactly one of ready, delayed and lease; a finished one in
-- job_history. The delete that takes a row out of one place, in the statement that puts it into the next, is
-- the linearisation point of every transition.
--
-- Everything keyed by job id is partitioned by ranges of the id (uuid v7, so ranges are times): all that is known of a week's
-- jobs is dropped together by retention, and a lookup by id touches one partition.
-- Lock cost: new tables only. compat: rolling

create sequence millrace.job_seq as bigint;
create sequence millrace.ready_seq as bigint;

-- What a live row carries beyond its identity. Bits of flags: 1 dedupe key, 2 serial key, 4 concurrency key, 8 batch,
-- 16 start deadline, 32 own attempt or time limit, 64 carried parts of a partial outcome, 128 expiring dedupe. A row with
-- flags = 0 settles without reading its fact.
create table millrace.job_fact (
  job_id           uuid not null,
  seq              bigint not null default nextval('millrace.job_seq'),
  tenant_id        uuid not null,
  queue_id         smallint not null,
  type_id          smallint not null,
  priority         smallint not null,
  flags            smallint not null default 0,
  payload          jsonb not null,
  job_name         text,
  job_category     text not null default 'standard',
  owner_id         uuid,
  dedupe_key       text,
  serial_key       text,
  concurrency_key  text,
  correlation_id   text,
  traceparent      text,
  pipeline         text,
  stage            text,
  batch_id         uuid,
  parent_id        uuid,
  max_attempts     smallint,
  run_timeout      interval,
  start_deadline   timestamptz,
  estimated_tokens integer not null default 1000,
  scheduled_at     timestamptz not null,
  created_at       timestamptz not null,
  created_by       text not null,
  constraint job_fact_pkey primary key (job_id),
  constraint job_fact_priority_check check (priority between 0 and 1000),
  constraint job_fact_estimated_tokens_check check (estimated_tokens > 0)
) partition by range (job_id);
create index job_fact_owner_idx on millrace.job_fact (tenant_id, owner_id, job_id) where owner_id is not null;
create index job_fact_batch_idx on millrace.job_fact (batch_id) where batch_id is not null;

create table millrace.ready (
  ready_seq      bigint not null default nextval('millrace.ready_seq'),
  job_id         uuid not null,
  tenant_id      uuid not null,
  queue_id       smallint not null,
  type_id        smallint not null,
  priority       smallint not null,
  flags          smallint not null,
  generation     smallint not null,
  attempt        smallint not null,
  delivery_count integer not null,
  crash_count    smallint not null,
  suspect_count  smallint not null,
  snooze_count   integer not null,
  born_at        timestamptz not null,
  ready_at       timestamptz not null,
  start_deadline timestamptz,
  constraint ready_pkey primary key (job_id)
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);
-- Exactly the claim order: one group per (queue, type, tenant, priority), oldest first inside it.
create index ready_claim_idx on millrace.ready (queue_id, type_id, tenant_id, priority, ready_seq);
-- Suspects are rare and are looked for by every heartbeat.
create index ready_suspect_idx on millrace.ready (queue_id, ready_seq) where suspect_count >= 3;
create index ready_deadline_idx on millrace.ready (start_deadline) where start_deadline is not null;

create table millrace.delayed (
  job_id         uuid not null,
  tenant_id      uuid not null,
  queue_id       smallint not null,
  type_id        smallint not null,
  priority       smallint not null,
  flags          smallint not null,
  generation     smallint not null,
  attempt        smallint not null,
  delivery_count integer not null,
  crash_count    smallint not null,
  suspect_count  smallint not null,
  snooze_count   integer not null,
  born_at        timestamptz not null,
  reason         millrace.wait_reason not null,
  -- 'infinity' where only an event, another job or an operator ends the wait.
  due_at         timestamptz not null,
  -- The serial or concurrency key a blocked row waits for, and its place in line.
  wait_key       text,
  wait_seq       bigint,
  start_deadline timestamptz,
  delayed_at     timestamptz not null,
  constraint delayed_pkey primary key (job_id),
  constraint delayed_key_check check ((reason in ('serial', 'concurrency')) = (wait_key is not null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index delayed_due_idx on millrace.delayed (due_at);
create index delayed_key_idx on millrace.delayed (queue_id, tenant_id, wait_key, wait_seq) where wait_key is not null;
-- The backlog of a provider is counted by job type.
create index delayed_type_idx on millrace.delayed (type_id);
create index delayed_deadline_idx on millrace.delayed (start_deadline) where start_deadline is not null;

create table millrace.lease (
  job_id              uuid not null,
  tenant_id           uuid not null,
  queue_id            smallint not null,
  type_id             smallint not null,
  priority            smallint not null,
  flags               smallint not null,
  generation          smallint not null,
  attempt             smallint not null,
  delivery_count      integer not null,
  crash_count         smallint not null,
  suspect_count       smallint not null,
  snooze_count        integer not null,
  born_at             timestamptz not null,
  token               uuid not null,
  worker_id           text not null,
  -- Nonce of the worker process whose row carries the liveness; null when the lease is timed by itself
  -- (claimed through the source-named functions, renewed per job).
  process             uuid,
  alone               boolean not null default false,
  lease_key           text,
  -- Its place in line, kept so that a job handed back does not lose it.
  ready_seq           bigint not null,
  leased_at           timestamptz not null,
  renewed_at          timestamptz not null,
  lease_until         timestamptz not null,
  cancel_requested_at timestamptz,
  cancel_reason       text,
  progress            smallint not null default 0,
  progress_message    text,
  progress_data       jsonb,
  constraint lease_pkey primary key (job_id),
  constraint lease_progress_check check (progress between 0 and 100)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index lease_process_idx on millrace.lease (process) where process is not null;
create index lease_until_idx on millrace.lease (lease_until);
create index lease_key_idx on millrace.lease (queue_id, tenant_id, lease_key) where lease_key is not null;
create index lease_queue_idx on millrace.lease (queue_id);

create table millrace.job_history (
  job_id         uuid not null,
  generation     smallint not null,
  tenant_id      uuid not null,
  queue_id       smallint not null,
  type_id        smallint not null,
  status         millrace.job_status not null,
  reason         text,
  finished_at    timestamptz not null,
  started_at     timestamptz,
  worker_id      text,
  token          uuid,
  attempt        smallint not null,
  delivery_count integer not null,
  crash_count    smallint not null,
  snooze_count   integer not null,
  progress       smallint not null default 0,
  progress_data  jsonb,
  result         jsonb,
  error          jsonb,
  fingerprint    text,
  redriven_at    timestamptz,
  constraint job_history_pkey primary key (job_id, generation),
  constraint job_history_final_check check (status in ('completed', 'failed', 'cancelled'))
) partition by range (job_id);
-- The dead-letter list: failed and not redriven.
create index job_history_dead_idx on millrace.job_history (queue_id, fingerprint, job_id)
  where status = 'failed' and redriven_at is null;

-- Append-only: one row for every delivery that did not end in plain success.
create table millrace.attempt (
  job_id         uuid not null,
  attempt_seq    bigint not null default nextval('millrace.job_seq'),
  generation     smallint not null,
  tenant_id      uuid not null,
  delivery_count integer not null,
  outcome        text not null,
  charged        boolean not null,
  token          uuid,
  worker_id      text,
  started_at     timestamptz,
  ended_at       timestamptz not null,
  due_at         timestamptz,
  error          jsonb,
  carry          jsonb,
  constraint attempt_pkey primary key (job_id, attempt_seq)
) partition by range (job_id);

create table millrace.job_log (
  job_id         uuid not null,
  log_seq        bigint not null default nextval('millrace.job_seq'),
  tenant_id      uuid not null,
  delivery_count integer not null,
  at             timestamptz not null,
  level          text not null,
  message        text not null,
  constraint job_log_pkey primary key (job_id, log_seq),
  constraint job_log_level_check check (level in ('debug', 'info', 'warn', 'error'))
) partition by range (job_id);

create table millrace.job_fact_default partition of millrace.job_fact default;
create table millrace.job_history_default partition of millrace.job_history default;
create table millrace.attempt_default partition of millrace.attempt default;
create table millrace.job_log_default partition of millrace.job_log default;

-- Live dedupe keys: one live job per (tenant, scope, key). Scope is the job type. A row with keep_until outlives its job.
create table millrace.dedupe_key (
  tenant_id  uuid not null,
  type_id    smallint not null,
  dedupe_key text not null,
  job_id     uuid not null,
  keep_until timestamptz,
  constraint dedupe_key_pkey primary key (tenant_id, type_id, dedupe_key)
);
create index dedupe_key_keep_idx on millrace.dedupe_key (keep_until) where keep_until is not null;

-- Answers of enqueue calls that carried an idempotency key: the same key with the same request finds its
-- own job again for a day, with another request it is refused.
create table millrace.idempotency_key (
  tenant_id       uuid not null,
  idempotency_key text not null,
  request_hash    bytea not null,
  job_id          uuid not null,
  created_at      timestamptz not null,
  constraint idempotency_key_pkey primary key (tenant_id, idempotency_key)
);
create index idempotency_key_created_idx on millrace.idempotency_key (created_at);

-- Live members of a serial key, in enqueue order: only the first may run, and it stays first while it retries.
create table millrace.serial_member (
  tenant_id  uuid not null,
  queue_id   smallint not null,
  serial_key text not null,
  seq        bigint not null,
  job_id     uuid not null,
  constraint serial_member_pkey primary key (tenant_id, queue_id, serial_key, seq)
);
create index serial_member_job_idx on millrace.serial_member (job_id);

-- Slots of a queue with concurrency_max. A slot is free when no lease has its job and token: it dies with the lease,
-- so nothing can leak.
create table millrace.queue_slot (
  queue_id smallint not null,
  slot_no  integer not null,
  job_id   uuid,
  token    uuid,
  constraint queue_slot_pkey primary key (queue_id, slot_no),
  constraint queue_slot_queue_fkey foreign key (queue_id) references millrace.queue (queue_id) on delete cascade
) with (fillfactor = 50);

-- What a finished job owes others (next of a serial key, freed concurrency, batch counts, dependents). Written in the
-- settling transaction, paid by millrace.advance() in a transaction of its own, so that settling never waits for them.
create table millrace.handoff (
  handoff_id bigint generated always as identity primary key,
  kind       text not null,
  tenant_id  uuid not null,
  queue_id   smallint,
  wait_key   text,
  job_id     uuid,
  batch_id   uuid,
  completed  integer not null default 0,
  failed     integer not null default 0,
  cancelled  integer not null default 0,
  constraint handoff_kind_check check (kind in ('serial', 'concurrency', 'dependency', 'batch'))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Whether a worker waits for a notification of this queue. Unlogged: losing it costs one polling interval.
create unlogged table millrace.wake (
  queue_id smallint primary key,
  armed    boolean not null
);

-- Target of COPY: rows inserted here become jobs of the caller's transaction and do not stay.
create unlogged table millrace.job_intake (
  job_type         text not null,
  payload          jsonb not null,
  queue            text,
  priority         integer,
  delay_seconds    numeric,
  scheduled_at     timestamptz,
  job_name         text,
  dedupe_key       text,
  serial_key       text,
  concurrency_key  text,
  correlation_id   text,
  batch_id         uuid,
  id               uuid
);
