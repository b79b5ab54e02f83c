-- Lanes: plain jobs that wait for their first delivery have no row but their fact. A lane is the line of one queue, type, tenant and
-- priority; workers claim stretches of it, so that neither claim nor success writes anything per job.
-- Lock cost: job_fact gets two columns without a rewrite and an index, audit an index in place of another: both hold off writers while
-- they are built, which on a schema with many jobs is best done in a quiet hour. compat: rolling

create table millrace.lane (
  lane_id   integer generated always as identity primary key,
  queue_id  smallint not null,
  type_id   smallint not null,
  tenant_id uuid not null,
  priority  smallint not null,
  -- Jobs of this lane were claimed one by one lately: new ones lie in ready, where such claimers do not meet.
  by_hand_until timestamptz,
  constraint lane_key unique (queue_id, type_id, tenant_id, priority)
);

-- How far a lane has been claimed: everything up to (lane_xid, lane_seq), except what writers that were still running then may have
-- added below it. Those are remembered in late_xids, with the place reached in late_seqs. One row per lane, which is the lock of
-- its claimers. claim_no is part of the index so that the newest version is always found first, however many old ones an open
-- snapshot keeps.
create table millrace.lane_head (
  lane_id   integer not null,
  claim_no  bigint not null,
  tenant_id uuid not null,
  lane_xid  xid8 not null,
  lane_seq  bigint not null,
  late_xids xid8[] not null,
  late_seqs bigint[] not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
create index lane_head_idx on millrace.lane_head (lane_id, claim_no);

-- Fresh jobs that left their lane before they were claimed (cancelled, rescheduled): the claim that passes them takes them out.
create table millrace.lane_gap (
  lane_id   integer not null,
  lane_xid  xid8 not null,
  seq       bigint not null,
  tenant_id uuid not null,
  constraint lane_gap_pkey primary key (lane_id, lane_xid, seq)
);

-- A claim: the jobs of one lane that one process took at one time, in order. Never changed.
create table millrace.claim (
  claim_id   uuid not null,
  lane_id    integer not null,
  tenant_id  uuid not null,
  queue_id   smallint not null,
  type_id    smallint not null,
  worker_id  text not null,
  process    uuid not null,
  claimed_at timestamptz not null,
  job_ids    uuid[] not null,
  -- Lane and range of seq: finds the claim of a job.
  span       box not null,
  constraint claim_pkey primary key (claim_id, claimed_at)
) partition by range (claimed_at);
alter table millrace.claim alter column job_ids set storage external;
create index claim_span_idx on millrace.claim using gist (span);

-- Which jobs of a claim are still held: a bit each, in the order of claim.job_ids. Whoever clears a bit has the job. Gone when no bit is left.
create table millrace.claim_open (
  claim_id    uuid not null,
  tenant_id   uuid not null,
  queue_id    smallint not null,
  type_id     smallint not null,
  worker_id   text not null,
  process     uuid not null,
  claimed_at  timestamptz not null,
  lease_until timestamptz not null,
  held        bit varying not null,
  constraint claim_open_pkey primary key (claim_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
create index claim_open_process_idx on millrace.claim_open (process);
create index claim_open_until_idx on millrace.claim_open (lease_until);

-- Plain success: history of the jobs whose bits are set. Never changed.
create table millrace.claim_done (
  claim_id   uuid not null,
  claimed_at timestamptz not null,
  tenant_id  uuid not null,
  at         timestamptz not null,
  done       bit varying not null
) partition by range (at);
create index claim_done_idx on millrace.claim_done (claim_id);

create table millrace.claim_default partition of millrace.claim default;
create table millrace.claim_done_default partition of millrace.claim_done default;

alter table millrace.job_fact add column lane_id integer, add column lane_xid xid8;
create index job_fact_lane_idx on millrace.job_fact (lane_id, lane_xid, seq) where lane_id is not null;

-- Rows about many jobs are found by the range of their ids, rows about one by record_id: an entry per job would cost more than the job.
alter table millrace.audit alter column job_ids set storage external;
alter table millrace.event alter column job_ids set storage external;
-- The first 48 bits of an id: of ours, its milliseconds.
create function millrace.id_prefix(p_id uuid) returns bigint
  language sql immutable parallel safe return ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint;
create function millrace.ids_range(p_ids uuid[]) returns int8range
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select int8range(millrace.id_prefix(u.ids[1]), millrace.id_prefix(u.ids[cardinality(u.ids)]), '[]') from (select array(select i from unnest(p_ids) i order by i) as ids) u
$$;
drop index millrace.audit_job_idx;
create index audit_jobs_idx on millrace.audit using gist (millrace.ids_range(job_ids)) where cardinality(job_ids) > 1;

-- One job as a claim hands it out; or, without job_id, the jobs of a lane: what they have in common, and a line for each in `jobs`: its id,
-- payload and, where it has more to say, the rest as JSON, with tabs between. The token is the claim's id, theirs are that plus their position.
create type millrace.delivery as (
  job_id         uuid,
  token          uuid,
  tenant_id      uuid,
  job_type       text,
  payload        jsonb,
  priority       integer,
  attempt        integer,
  max_attempts   integer,
  delivery_count integer,
  generation     integer,
  run_timeout_ms bigint,
  lease_ms       bigint,
  job_name       text,
  owner_id       uuid,
  correlation_id text,
  traceparent    text,
  pipeline       text,
  stage          text,
  batch_id       uuid,
  parent_id      uuid,
  serial_key     text,
  carry          jsonb,
  alone          boolean,
  mark           text,
  jobs           text
);

-- The next jobs of a lane, as they are read from there; ids and lines (see millrace.delivery) in the same order.
create type millrace.lane_stretch as (
  job_ids  uuid[],
  seq_from bigint,
  seq_to   bigint,
  lines    text
);

-- Made anew with other arguments or another answer.
drop function if exists millrace.claim_jobs(text, uuid, text, integer, text[], jsonb, boolean);
drop function if exists millrace.claim_core(text, uuid, smallint[], smallint[], uuid, uuid, integer, interval, boolean, jsonb, boolean);
drop function if exists millrace.job_partitions();

insert into millrace.sqlstate (code, name, meaning) values
  ('MR025', 'restored', 'The database was restored from another server, whose transaction ids its lanes carry: run millrace restore-check.');
