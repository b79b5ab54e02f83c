-- Evidence: audit, its hash chain, the event log, and counters. All insert-only for those who write on the hot path.
-- Lock cost: new tables only. compat: rolling

create sequence millrace.audit_seq as bigint;
create sequence millrace.event_seq as bigint;

create table millrace.audit (
  audit_id       bigint not null default nextval('millrace.audit_seq'),
  xid            xid8 not null default pg_current_xact_id(),
  at             timestamptz not null default clock_timestamp(),
  tenant_id      uuid not null,
  actor          text not null,
  worker_id      text,
  table_name     text not null,
  record_id      text,
  operation      text not null,
  action         text not null,
  job_ids        uuid[] not null default '{}',
  old_values     jsonb,
  new_values     jsonb,
  reason         text,
  category       text not null default 'system',
  patient_id     uuid,
  constraint audit_pkey primary key (at, audit_id)
) partition by range (at);
create index audit_xid_idx on millrace.audit (xid, audit_id);
create index audit_job_idx on millrace.audit using gin (job_ids);
create index audit_record_idx on millrace.audit (record_id) where record_id is not null;

-- The chain of a tenant: every sealed audit row once, in order, each hash over the one before and the row's fields.
create table millrace.audit_seal (
  tenant_id uuid not null,
  chain_seq bigint not null,
  audit_id  bigint not null,
  at        timestamptz not null,
  hash      bytea not null,
  constraint audit_seal_pkey primary key (tenant_id, chain_seq)
);
create table millrace.audit_seal_state (
  only_row   boolean primary key default true,
  sealed_xid xid8 not null default '0'::xid8,
  constraint audit_seal_state_one_row_check check (only_row)
);
insert into millrace.audit_seal_state default values;

create table millrace.event (
  event_id  bigint not null default nextval('millrace.event_seq'),
  xid       xid8 not null default pg_current_xact_id(),
  at        timestamptz not null default clock_timestamp(),
  tenant_id uuid not null,
  kind      text not null,
  queue_id  smallint,
  job_ids   uuid[] not null default '{}',
  data      jsonb,
  constraint event_pkey primary key (at, event_id)
) partition by range (at);
create index event_id_idx on millrace.event (event_id);

create table millrace.audit_default partition of millrace.audit default;
create table millrace.event_default partition of millrace.event default;

-- Counts shown to people: deltas are appended by every transition and folded by the keeper, so no row is hot.
create table millrace.counter (
  queue_id  smallint not null,
  tenant_id uuid not null,
  enqueued  bigint not null default 0,
  completed bigint not null default 0,
  failed    bigint not null default 0,
  cancelled bigint not null default 0,
  redriven  bigint not null default 0,
  ready     bigint not null default 0,
  delayed   bigint not null default 0,
  leased    bigint not null default 0,
  constraint counter_pkey primary key (queue_id, tenant_id)
) with (fillfactor = 50);
create table millrace.counter_delta (
  delta_id  bigint generated always as identity primary key,
  queue_id  smallint not null,
  tenant_id uuid not null,
  enqueued  integer not null default 0,
  completed integer not null default 0,
  failed    integer not null default 0,
  cancelled integer not null default 0,
  redriven  integer not null default 0,
  ready     integer not null default 0,
  delayed   integer not null default 0,
  leased    integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index counter_delta_idx on millrace.counter_delta (queue_id, tenant_id);

-- Registered SQLSTATEs; docs/sqlstates.md and the C++ table are compared with it.
create table millrace.sqlstate (
  code    text primary key,
  name    text not null,
  meaning text not null,
  constraint sqlstate_name_key unique (name),
  constraint sqlstate_code_check check (code ~ '^MR[0-9]{3}$')
);
