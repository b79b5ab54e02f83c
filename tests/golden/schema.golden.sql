-- The schema as the migrations make it, without partitions cut by time. Compared by schema_pg_test;
-- MILLRACE_UPDATE_GOLDEN=1 writes it anew.

-- Types
create type millrace.job_status as enum ('pending', 'processing', 'completed', 'failed', 'cancelled', 'retrying', 'deferred');
create type millrace.wait_reason as enum ('scheduled', 'retrying', 'deferred', 'serial', 'concurrency', 'dependency');

create type millrace.delivery as (
  job_id uuid,
  token uuid,
  tenant_id uuid,
  job_type text,
  payload jsonb,
  priority integer,
  attempt integer,
  max_attempts integer,
  delivery_count integer,
  generation integer,
  run_timeout_ms bigint,
  lease_ms bigint,
  job_name text,
  owner_id uuid,
  correlation_id text,
  traceparent text,
  pipeline text,
  stage text,
  batch_id uuid,
  parent_id uuid,
  serial_key text,
  carry jsonb,
  alone boolean,
  mark text,
  jobs text
);
create type millrace.held_key as (
  tenant_id uuid,
  queue_id smallint,
  wait_key text
);
create type millrace.import_answer as (
  source_type text,
  source_id text,
  source_created_at timestamp with time zone,
  job_type text,
  job_id uuid,
  reason text
);
create type millrace.import_count as (
  source_type text,
  job_type text,
  queue text,
  is_new boolean,
  reason text,
  jobs bigint,
  example text
);
create type millrace.import_row as (
  source_type text,
  source_id text,
  source_created_at timestamp with time zone,
  user_id uuid,
  attempts_used integer,
  attempts_max integer,
  reason text,
  job jsonb,
  kept jsonb
);
create type millrace.import_verdict as (
  ord integer,
  source_type text,
  job_type text,
  queue text,
  is_new boolean,
  tenant_id uuid,
  reason text,
  job jsonb
);
create type millrace.job_brief as (
  job_id uuid,
  tenant_id uuid,
  queue text,
  job_type text,
  job_name text,
  status text,
  stage text,
  reason text,
  priority integer,
  attempt integer,
  max_attempts integer,
  delivery_count integer,
  generation integer,
  progress integer,
  progress_message text,
  progress_data jsonb,
  cancel_requested_at timestamp with time zone,
  worker_id text,
  created_at timestamp with time zone,
  scheduled_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  batch_id uuid,
  parent_id uuid,
  owner_id uuid,
  correlation_id text,
  result jsonb,
  error jsonb
);
create type millrace.job_spec as (
  ord integer,
  id uuid,
  job_type text,
  queue text,
  payload jsonb,
  job_name text,
  job_category text,
  owner_id uuid,
  priority integer,
  scheduled_at timestamp with time zone,
  dedupe_key text,
  dedupe_keep interval,
  serial_key text,
  concurrency_key text,
  idempotency_key text,
  request_hash bytea,
  correlation_id text,
  traceparent text,
  pipeline text,
  stage text,
  batch_id uuid,
  parent_id uuid,
  after_jobs uuid[],
  after_mode text,
  after_failure text,
  max_attempts integer,
  run_timeout interval,
  start_deadline timestamp with time zone
);
create type millrace.lane_stretch as (
  job_ids uuid[],
  seq_from bigint,
  seq_to bigint,
  lines text
);
create type millrace.moving as (
  job_id uuid,
  tenant_id uuid,
  queue_id smallint,
  type_id smallint,
  priority smallint,
  flags smallint,
  generation smallint,
  attempt smallint,
  delivery_count integer,
  crash_count smallint,
  suspect_count smallint,
  snooze_count integer,
  born_at timestamp with time zone,
  start_deadline timestamp with time zone,
  token uuid,
  worker_id text,
  started_at timestamp with time zone,
  lease_key text,
  ready_seq bigint,
  progress smallint,
  progress_data jsonb,
  cancel_reason text,
  outcome text,
  charged boolean,
  result jsonb,
  error jsonb,
  carry jsonb,
  actual_tokens bigint,
  until_at timestamp with time zone,
  final_status millrace.job_status,
  final_reason text,
  wait_reason millrace.wait_reason,
  due_at timestamp with time zone
);
create type millrace.stretch as (
  job_ids uuid[],
  seq_from bigint,
  seq_to bigint,
  lines text,
  tokens bigint
);

-- Sequences
create sequence millrace.api_rate_limits_provider_id_seq as integer;
create sequence millrace.audit_seq as bigint;
create sequence millrace.counter_delta_delta_id_seq as bigint;
create sequence millrace.event_seq as bigint;
create sequence millrace.handoff_handoff_id_seq as bigint;
create sequence millrace.job_seq as bigint;
create sequence millrace.job_type_type_id_seq as smallint;
create sequence millrace.lane_lane_id_seq as integer;
create sequence millrace.orphan_note_note_id_seq as bigint;
create sequence millrace.provider_slot_slot_id_seq as bigint;
create sequence millrace.queue_queue_id_seq as smallint;
create sequence millrace.ready_seq as bigint;
create sequence millrace.usage_delta_delta_id_seq as bigint;

-- Tables
create table millrace.api_rate_limit_override (
  provider_name text not null,
  api_endpoint text not null,
  requests_per_minute integer,
  requests_per_hour integer,
  tokens_per_minute bigint,
  tokens_per_hour bigint,
  concurrent_requests integer,
  status text,
  reason text not null,
  set_by text not null,
  set_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone
);
create table millrace.api_rate_limits (
  id uuid not null default gen_random_uuid(),
  provider_id integer generated always as identity not null,
  provider_name text not null,
  api_endpoint text not null,
  requests_per_minute integer default 60,
  requests_per_hour integer,
  tokens_per_minute bigint,
  tokens_per_hour bigint,
  concurrent_requests integer default 10,
  current_requests_minute bigint not null default 0,
  current_requests_hour bigint not null default 0,
  current_tokens_minute bigint not null default 0,
  current_tokens_hour bigint not null default 0,
  active_requests integer not null default 0,
  minute_reset_at timestamp with time zone not null default clock_timestamp(),
  hour_reset_at timestamp with time zone not null default clock_timestamp(),
  minute_window interval not null default '00:01:00'::interval,
  hour_window interval not null default '01:00:00'::interval,
  slot_lease interval not null default '00:05:00'::interval,
  backpressure_threshold numeric(3,2) not null default 0.8,
  backpressure_delay_seconds integer not null default 5,
  queue_depth_limit integer default 1000,
  status text not null default 'active'::text,
  last_rate_limit_hit timestamp with time zone,
  rate_limit_violations bigint not null default 0,
  last_grant_at timestamp with time zone,
  breaker_state text not null default 'closed'::text,
  breaker_until timestamp with time zone,
  breaker_failures integer not null default 0,
  breaker_threshold integer not null default 5,
  breaker_cooldown interval not null default '00:00:30'::interval,
  breaker_opens integer not null default 0,
  breaker_reason text,
  throttled_until timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp()
) with (fillfactor=50);  -- row security forced
create table millrace.api_token (
  token_id uuid not null,
  tenant_id uuid not null,
  confined boolean not null,
  user_id uuid,
  role text not null,
  kind text not null,
  public_id text,
  hash bytea,
  jti text,
  prefix text not null,
  name text,
  scopes text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  created_by text not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  last_used_at timestamp with time zone
) with (fillfactor=70);  -- row security forced
create table millrace.artifact (
  id uuid not null,
  job_id uuid not null,
  tenant_id uuid not null,
  kind text not null,
  file_name text,
  sha256 bytea not null,
  size_bytes bigint not null,
  content_type text not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null
);  -- row security forced
create table millrace.attempt (
  job_id uuid not null,
  attempt_seq bigint not null default nextval('millrace.job_seq'::regclass),
  generation smallint not null,
  tenant_id uuid not null,
  delivery_count integer not null,
  outcome text not null,
  charged boolean not null,
  token uuid,
  worker_id text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone not null,
  due_at timestamp with time zone,
  error jsonb,
  carry jsonb
) partition by RANGE (job_id);  -- row security forced
create table millrace.attempt_default partition of millrace.attempt (
  job_id uuid not null,
  attempt_seq bigint not null default nextval('millrace.job_seq'::regclass),
  generation smallint not null,
  tenant_id uuid not null,
  delivery_count integer not null,
  outcome text not null,
  charged boolean not null,
  token uuid,
  worker_id text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone not null,
  due_at timestamp with time zone,
  error jsonb,
  carry jsonb
);  -- row security
create table millrace.audit (
  audit_id bigint not null default nextval('millrace.audit_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  actor text not null,
  worker_id text,
  table_name text not null,
  record_id text,
  operation text not null,
  action text not null,
  job_ids uuid[] not null default '{}'::uuid[],
  old_values jsonb,
  new_values jsonb,
  reason text,
  category text not null default 'system'::text,
  patient_id uuid
) partition by RANGE (at);  -- row security forced
create table millrace.audit_default partition of millrace.audit (
  audit_id bigint not null default nextval('millrace.audit_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  actor text not null,
  worker_id text,
  table_name text not null,
  record_id text,
  operation text not null,
  action text not null,
  job_ids uuid[] not null default '{}'::uuid[],
  old_values jsonb,
  new_values jsonb,
  reason text,
  category text not null default 'system'::text,
  patient_id uuid
);  -- row security
create table millrace.audit_seal (
  tenant_id uuid not null,
  chain_seq bigint not null,
  audit_id bigint not null,
  at timestamp with time zone not null,
  hash bytea not null
);  -- row security forced
create table millrace.audit_seal_state (
  only_row boolean not null default true,
  sealed_xid xid8 not null default '0'::xid8,
  sealed_audit_id bigint not null default 0,
  floor_audit_id bigint not null default 0
);
create table millrace.batch (
  batch_id uuid not null,
  tenant_id uuid not null,
  name text,
  total integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  sealed_at timestamp with time zone,
  callback jsonb,
  callback_on text not null default 'finished'::text,
  callback_job_id uuid,
  finished_at timestamp with time zone,
  created_at timestamp with time zone not null,
  created_by text not null
) with (fillfactor=50);  -- row security forced
create table millrace.blob_object (
  tenant_id uuid not null,
  sha256 bytea not null,
  size_bytes bigint not null,
  content_type text not null,
  store_key text not null,
  created_at timestamp with time zone not null,
  condemned_at timestamp with time zone
);  -- row security forced
create table millrace.claim (
  claim_id uuid not null,
  lane_id integer not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  worker_id text not null,
  process uuid not null,
  claimed_at timestamp with time zone not null,
  job_ids uuid[] not null,
  span box not null
) partition by RANGE (claimed_at);  -- row security forced
create table millrace.claim_default partition of millrace.claim (
  claim_id uuid not null,
  lane_id integer not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  worker_id text not null,
  process uuid not null,
  claimed_at timestamp with time zone not null,
  job_ids uuid[] not null,
  span box not null
);  -- row security
create table millrace.claim_done (
  claim_id uuid not null,
  claimed_at timestamp with time zone not null,
  tenant_id uuid not null,
  at timestamp with time zone not null,
  done bit varying not null
) partition by RANGE (at);  -- row security forced
create table millrace.claim_done_default partition of millrace.claim_done (
  claim_id uuid not null,
  claimed_at timestamp with time zone not null,
  tenant_id uuid not null,
  at timestamp with time zone not null,
  done bit varying not null
);  -- row security
create table millrace.claim_open (
  claim_id uuid not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  worker_id text not null,
  process uuid not null,
  claimed_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  held bit varying not null
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
create table millrace.compute_job (
  tenant_id uuid not null,
  app_id text not null,
  compute_key bytea not null,
  inputs_hash text not null,
  definition text not null,
  version text not null,
  job_id uuid not null,
  asked_at timestamp with time zone not null
);  -- row security forced
create table millrace.counter (
  queue_id smallint not null,
  tenant_id uuid not null,
  enqueued bigint not null default 0,
  completed bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  redriven bigint not null default 0,
  ready bigint not null default 0,
  delayed bigint not null default 0,
  leased bigint not null default 0
) with (fillfactor=50, vacuum_truncate=false);  -- row security forced
create table millrace.counter_delta (
  delta_id bigint generated always as identity not null,
  queue_id smallint not null,
  tenant_id uuid not null,
  enqueued integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  redriven integer not null default 0,
  ready integer not null default 0,
  delayed integer not null default 0,
  leased integer not null default 0
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
create table millrace.cron (
  cron_id uuid not null default gen_random_uuid(),
  tenant_id uuid not null,
  name text not null,
  schedule text not null,
  time_zone text not null default 'UTC'::text,
  job jsonb not null,
  enabled boolean not null default true,
  missed text not null default 'one'::text,
  next_due_at timestamp with time zone not null,
  last_due_at timestamp with time zone,
  last_job_id uuid,
  last_error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp()
);  -- row security forced
create table millrace.dedupe_key (
  tenant_id uuid not null,
  type_id smallint not null,
  dedupe_key text not null,
  job_id uuid not null,
  keep_until timestamp with time zone
);  -- row security forced
create table millrace.delayed (
  job_id uuid not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null,
  generation smallint not null,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  suspect_count smallint not null,
  snooze_count integer not null,
  born_at timestamp with time zone not null,
  reason millrace.wait_reason not null,
  due_at timestamp with time zone not null,
  wait_key text,
  wait_seq bigint,
  start_deadline timestamp with time zone,
  delayed_at timestamp with time zone not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
create table millrace.dependency (
  job_id uuid not null,
  depends_on uuid not null,
  tenant_id uuid not null,
  mode text not null,
  on_failure text not null
);  -- row security forced
create table millrace.event (
  event_id bigint not null default nextval('millrace.event_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  kind text not null,
  queue_id smallint,
  job_ids uuid[] not null default '{}'::uuid[],
  data jsonb
) partition by RANGE (at);  -- row security forced
create table millrace.event_default partition of millrace.event (
  event_id bigint not null default nextval('millrace.event_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  kind text not null,
  queue_id smallint,
  job_ids uuid[] not null default '{}'::uuid[],
  data jsonb
);  -- row security
create table millrace.event_floor (
  only_row boolean not null default true,
  xid xid8 not null default '0'::xid8
);
create table millrace.export_history (
  id uuid not null,
  tenant_id uuid not null,
  user_id uuid not null,
  document_id uuid,
  document_version integer,
  format text not null default 'pdf'::text,
  template_slug text,
  file_name text not null,
  file_path text not null,
  file_size bigint not null,
  download_count integer not null default 0,
  job_id uuid,
  batch_id uuid,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null
);  -- row security forced
create table millrace.handoff (
  handoff_id bigint generated always as identity not null,
  kind text not null,
  tenant_id uuid not null,
  queue_id smallint,
  wait_key text,
  job_id uuid,
  batch_id uuid,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
create table millrace.http_request (
  tenant_id uuid not null,
  scope text not null,
  request_key text not null,
  fingerprint bytea not null,
  state text not null,
  token uuid not null,
  lease_until timestamp with time zone not null,
  status integer,
  headers jsonb,
  body bytea,
  effect jsonb,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
);  -- row security forced
create table millrace.idempotency_key (
  tenant_id uuid not null,
  idempotency_key text not null,
  request_hash bytea not null,
  job_id uuid not null,
  created_at timestamp with time zone not null
);  -- row security forced
create table millrace.imported_job (
  source text not null,
  source_schema text not null,
  source_type text not null,
  source_id text not null,
  source_created_at timestamp with time zone not null,
  tenant_id uuid not null,
  job_id uuid not null,
  deleted boolean not null,
  source_row jsonb not null,
  imported_at timestamp with time zone not null
);  -- row security forced
create table millrace.job_fact (
  job_id uuid not null,
  seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null default 0,
  payload jsonb not null,
  job_name text,
  job_category text not null default 'standard'::text,
  owner_id uuid,
  dedupe_key text,
  serial_key text,
  concurrency_key text,
  correlation_id text,
  traceparent text,
  pipeline text,
  stage text,
  batch_id uuid,
  parent_id uuid,
  max_attempts smallint,
  run_timeout interval,
  start_deadline timestamp with time zone,
  estimated_tokens integer not null default 1000,
  scheduled_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  lane_id integer,
  lane_xid xid8
) partition by RANGE (job_id);  -- row security forced
create table millrace.job_fact_default partition of millrace.job_fact (
  job_id uuid not null,
  seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null default 0,
  payload jsonb not null,
  job_name text,
  job_category text not null default 'standard'::text,
  owner_id uuid,
  dedupe_key text,
  serial_key text,
  concurrency_key text,
  correlation_id text,
  traceparent text,
  pipeline text,
  stage text,
  batch_id uuid,
  parent_id uuid,
  max_attempts smallint,
  run_timeout interval,
  start_deadline timestamp with time zone,
  estimated_tokens integer not null default 1000,
  scheduled_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  lane_id integer,
  lane_xid xid8
);  -- row security
create table millrace.job_history (
  job_id uuid not null,
  generation smallint not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  status millrace.job_status not null,
  reason text,
  finished_at timestamp with time zone not null,
  started_at timestamp with time zone,
  worker_id text,
  token uuid,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  snooze_count integer not null,
  progress smallint not null default 0,
  progress_data jsonb,
  result jsonb,
  error jsonb,
  fingerprint text,
  redriven_at timestamp with time zone
) partition by RANGE (job_id);  -- row security forced
create table millrace.job_history_default partition of millrace.job_history (
  job_id uuid not null,
  generation smallint not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  status millrace.job_status not null,
  reason text,
  finished_at timestamp with time zone not null,
  started_at timestamp with time zone,
  worker_id text,
  token uuid,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  snooze_count integer not null,
  progress smallint not null default 0,
  progress_data jsonb,
  result jsonb,
  error jsonb,
  fingerprint text,
  redriven_at timestamp with time zone
);  -- row security
create unlogged table millrace.job_intake (
  job_type text not null,
  payload jsonb not null,
  queue text,
  priority integer,
  delay_seconds numeric,
  scheduled_at timestamp with time zone,
  job_name text,
  dedupe_key text,
  serial_key text,
  concurrency_key text,
  correlation_id text,
  batch_id uuid,
  id uuid,
  xid xid8 not null default pg_current_xact_id()
) with (autovacuum_vacuum_threshold=2000000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_insert_threshold=-1, autovacuum_analyze_threshold=2000000000);
create table millrace.job_log (
  job_id uuid not null,
  log_seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  delivery_count integer not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null
) partition by RANGE (job_id);  -- row security forced
create table millrace.job_log_default partition of millrace.job_log (
  job_id uuid not null,
  log_seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  delivery_count integer not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null
);  -- row security
create table millrace.job_type (
  type_id smallint generated always as identity not null,
  job_type text not null,
  queue_id smallint not null,
  required_keys text[] not null default '{}'::text[],
  required_message text,
  provider_name text,
  api_endpoint text,
  priority_default smallint,
  run_timeout interval,
  max_attempts smallint,
  enabled boolean not null default true,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp()
);
create table millrace.keeper_lease (
  duty text not null,
  holder text not null,
  token uuid not null,
  lease_until timestamp with time zone not null
) with (fillfactor=50);
create table millrace.lane (
  lane_id integer generated always as identity not null,
  queue_id smallint not null,
  type_id smallint not null,
  tenant_id uuid not null,
  priority smallint not null,
  by_hand_until timestamp with time zone
);  -- row security forced
create table millrace.lane_gap (
  lane_id integer not null,
  lane_xid xid8 not null,
  seq bigint not null,
  tenant_id uuid not null
) with (vacuum_truncate=false);  -- row security forced
create table millrace.lane_head (
  lane_id integer not null,
  claim_no bigint not null,
  tenant_id uuid not null,
  lane_xid xid8 not null,
  lane_seq bigint not null,
  late_xids xid8[] not null,
  late_seqs bigint[] not null
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
create table millrace.lease (
  job_id uuid not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null,
  generation smallint not null,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  suspect_count smallint not null,
  snooze_count integer not null,
  born_at timestamp with time zone not null,
  token uuid not null,
  worker_id text not null,
  process uuid,
  alone boolean not null default false,
  lease_key text,
  ready_seq bigint not null,
  leased_at timestamp with time zone not null,
  renewed_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  cancel_requested_at timestamp with time zone,
  cancel_reason text,
  progress smallint not null default 0,
  progress_message text,
  progress_data jsonb
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
create table millrace.orphan_note (
  note_id bigint generated always as identity not null,
  tenant_id uuid not null,
  sha256 bytea not null,
  noted_at timestamp with time zone not null
);  -- row security forced
create table millrace.process_death (
  at timestamp with time zone not null,
  alone boolean not null
) with (vacuum_truncate=false);
create table millrace.provider_bucket (
  provider_id integer not null,
  time_window text not null,
  bucket bigint not null,
  requests bigint not null,
  tokens bigint not null
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
create table millrace.provider_slot (
  slot_id bigint generated always as identity not null,
  provider_id integer not null,
  job_id uuid,
  token uuid,
  worker_id text,
  acquired_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  estimated_tokens bigint not null,
  minute_bucket bigint not null,
  hour_bucket bigint not null,
  claim_id uuid,
  jobs integer not null default 1
) with (fillfactor=70);
create table millrace.queue (
  queue_id smallint generated always as identity not null,
  queue text not null,
  max_attempts smallint not null default 12,
  backoff_base interval not null default '00:00:15'::interval,
  backoff_factor numeric not null default 2,
  backoff_cap interval not null default '01:00:00'::interval,
  jitter_low numeric not null default 1,
  jitter_high numeric not null default 2,
  lease interval not null default '00:00:30'::interval,
  beat interval not null default '00:00:10'::interval,
  run_timeout interval not null default '00:05:00'::interval,
  reclaim_jitter interval not null default '00:00:00.1'::interval,
  max_age interval not null default '24:00:00'::interval,
  max_snoozes integer not null default 10000,
  concurrency_max integer,
  key_concurrency_max integer,
  depth_max bigint not null default 50000000,
  priority_default smallint not null default 5,
  age_step interval default '00:00:30'::interval,
  paused_at timestamp with time zone,
  paused_reason text,
  paused_by text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp()
);
create table millrace.queue_rate (
  queue_id smallint not null,
  sampled_at timestamp with time zone not null,
  ended bigint not null,
  per_second double precision not null
) with (fillfactor=50);
create table millrace.queue_slot (
  queue_id smallint not null,
  slot_no integer not null,
  job_id uuid,
  token uuid
) with (fillfactor=50);
create table millrace.ready (
  ready_seq bigint not null default nextval('millrace.ready_seq'::regclass),
  job_id uuid not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null,
  generation smallint not null,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  suspect_count smallint not null,
  snooze_count integer not null,
  born_at timestamp with time zone not null,
  ready_at timestamp with time zone not null,
  start_deadline timestamp with time zone
) with (fillfactor=100, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=50000, vacuum_truncate=false);  -- row security forced
create table millrace.result (
  id uuid not null,
  job_id uuid not null,
  tenant_id uuid not null,
  outputs_json jsonb not null,
  score numeric,
  created_at timestamp with time zone not null
);  -- row security forced
create table millrace.schema_function (
  path text not null,
  checksum text not null,
  version integer not null,
  applied_at timestamp with time zone not null default clock_timestamp()
);
create table millrace.schema_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  duration_ms bigint not null,
  applied_by text not null,
  binary_version text not null
);
create table millrace.serial_member (
  tenant_id uuid not null,
  queue_id smallint not null,
  serial_key text not null,
  seq bigint not null,
  job_id uuid not null
) with (vacuum_truncate=false);  -- row security forced
create table millrace.shell_files (
  id uuid not null,
  tenant_id uuid not null,
  owner_id uuid not null,
  patient_id uuid not null,
  bucket text not null default 'medical-docs'::text,
  storage_path text not null,
  file_name text not null,
  content_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  idempotency_key text,
  status text not null default 'uploaded'::text,
  processing_error jsonb,
  job_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);  -- row security forced
create table millrace.sqlstate (
  code text not null,
  name text not null,
  meaning text not null
);
create table millrace.storage_bucket (
  bucket text not null,
  file_size_limit bigint,
  allowed_mime_types text[],
  created_at timestamp with time zone not null default clock_timestamp()
);
create table millrace.storage_object (
  object_id uuid not null,
  tenant_id uuid not null,
  bucket text not null,
  name text not null,
  owner_id uuid,
  sha256 bytea not null,
  size_bytes bigint not null,
  content_type text not null,
  cache_control text not null,
  user_metadata jsonb,
  claimed boolean not null default false,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);  -- row security forced
create table millrace.system_configuration (
  config_key text not null,
  config_value text not null,
  config_type text not null default 'system'::text,
  description text,
  is_sensitive boolean not null default false,
  updated_at timestamp with time zone not null default clock_timestamp()
);  -- row security forced
create table millrace.tenant (
  tenant_id uuid not null,
  name text not null,
  quota_bytes bigint,
  quota_files bigint,
  requests_per_minute integer,
  disabled_at timestamp with time zone,
  disabled_reason text,
  created_at timestamp with time zone not null,
  created_by text not null,
  updated_at timestamp with time zone not null
);  -- row security forced
create table millrace.tenant_usage (
  tenant_id uuid not null,
  used_bytes bigint not null default 0,
  used_files bigint not null default 0
) with (fillfactor=50);  -- row security forced
create table millrace.tenant_weight (
  tenant_id uuid not null,
  weight integer not null
);  -- row security forced
create table millrace.upload (
  upload_id uuid not null,
  tenant_id uuid not null,
  user_id uuid,
  kind text not null,
  bucket text not null,
  object_name text,
  replace boolean not null default false,
  patient_id uuid,
  file_name text,
  declared_type text,
  cache_control text,
  metadata jsonb,
  idempotency_key text,
  correlation_id text,
  traceparent text,
  size_bytes bigint,
  reserved_bytes bigint not null,
  offset_bytes bigint not null default 0,
  ttl interval not null,
  state text not null default 'open'::text,
  writer uuid,
  writer_until timestamp with time zone,
  sha256 bytea,
  answer jsonb,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
) with (fillfactor=70);  -- row security forced
create table millrace.upload_part (
  upload_id uuid not null,
  offset_bytes bigint not null,
  tenant_id uuid not null,
  size_bytes bigint not null,
  handle text not null,
  created_at timestamp with time zone not null
);  -- row security forced
create table millrace.usage_delta (
  delta_id bigint generated always as identity not null,
  tenant_id uuid not null,
  bytes bigint not null,
  files bigint not null
);  -- row security forced
create table millrace.user_profiles (
  id uuid not null,
  tenant_id uuid not null,
  account_owner_id uuid not null,
  display_name text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);  -- row security forced
create unlogged table millrace.wake (
  queue_id smallint not null,
  armed boolean not null
) with (vacuum_truncate=false);
create table millrace.worker (
  worker_id text not null,
  nonce uuid not null,
  supervisor_id text,
  host text not null,
  pid integer not null,
  version text not null,
  slots integer not null,
  queues text[] not null,
  job_types text[] not null,
  lease interval not null,
  started_at timestamp with time zone not null,
  beat_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  draining boolean not null default false,
  running integer not null default 0,
  clock_skew_ms bigint not null default 0,
  token_id uuid
) with (fillfactor=50, vacuum_truncate=false);

-- Constraints
alter table millrace.api_rate_limit_override add constraint api_rate_limit_override_limit_fkey FOREIGN KEY (provider_name, api_endpoint) REFERENCES millrace.api_rate_limits(provider_name, api_endpoint) ON UPDATE CASCADE ON DELETE CASCADE;
alter table millrace.api_rate_limit_override add constraint api_rate_limit_override_pkey PRIMARY KEY (provider_name, api_endpoint);
alter table millrace.api_rate_limit_override add constraint api_rate_limit_override_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text, 'maintenance'::text])));
alter table millrace.api_rate_limits add constraint api_rate_limits_breaker_check CHECK ((breaker_state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text])));
alter table millrace.api_rate_limits add constraint api_rate_limits_id_key UNIQUE (id);
alter table millrace.api_rate_limits add constraint api_rate_limits_name_key UNIQUE (provider_name, api_endpoint);
alter table millrace.api_rate_limits add constraint api_rate_limits_pkey PRIMARY KEY (provider_id);
alter table millrace.api_rate_limits add constraint api_rate_limits_positive_check CHECK (((requests_per_minute >= 0) AND (requests_per_hour >= 0) AND (tokens_per_minute >= 0) AND (tokens_per_hour >= 0) AND (concurrent_requests >= 0)));
alter table millrace.api_rate_limits add constraint api_rate_limits_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text, 'maintenance'::text])));
alter table millrace.api_rate_limits add constraint api_rate_limits_window_check CHECK (((minute_window >= '00:00:01'::interval) AND (hour_window >= minute_window)));
alter table millrace.api_token add constraint api_token_hash_key UNIQUE (hash);
alter table millrace.api_token add constraint api_token_jti_key UNIQUE (jti);
alter table millrace.api_token add constraint api_token_kind_check CHECK ((((kind = 'api_key'::text) AND (octet_length(hash) = 32) AND (jti IS NULL)) OR ((kind = 'jwt'::text) AND (hash IS NULL) AND (public_id IS NULL) AND (jti IS NOT NULL))));
alter table millrace.api_token add constraint api_token_pkey PRIMARY KEY (token_id);
alter table millrace.api_token add constraint api_token_public_id_key UNIQUE (public_id);
alter table millrace.api_token add constraint api_token_role_check CHECK ((role = ANY (ARRAY['anon'::text, 'authenticated'::text, 'service_role'::text, 'reader'::text, 'operator'::text, 'admin'::text])));
alter table millrace.artifact add constraint artifact_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.artifact add constraint artifact_kind_check CHECK ((kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}$'::text));
alter table millrace.artifact add constraint artifact_pkey PRIMARY KEY (id);
alter table millrace.attempt add constraint attempt_pkey PRIMARY KEY (job_id, attempt_seq);
alter table millrace.audit add constraint audit_pkey PRIMARY KEY (at, audit_id);
alter table millrace.audit_seal add constraint audit_seal_pkey PRIMARY KEY (tenant_id, chain_seq);
alter table millrace.audit_seal_state add constraint audit_seal_state_one_row_check CHECK (only_row);
alter table millrace.audit_seal_state add constraint audit_seal_state_pkey PRIMARY KEY (only_row);
alter table millrace.batch add constraint batch_callback_on_check CHECK ((callback_on = ANY (ARRAY['finished'::text, 'completed'::text])));
alter table millrace.batch add constraint batch_counts_check CHECK (((completed >= 0) AND (failed >= 0) AND (cancelled >= 0)));
alter table millrace.batch add constraint batch_pkey PRIMARY KEY (batch_id);
alter table millrace.blob_object add constraint blob_object_pkey PRIMARY KEY (tenant_id, sha256);
alter table millrace.blob_object add constraint blob_object_sha256_check CHECK ((octet_length(sha256) = 32));
alter table millrace.blob_object add constraint blob_object_size_check CHECK ((size_bytes >= 0));
alter table millrace.claim add constraint claim_pkey PRIMARY KEY (claim_id, claimed_at);
alter table millrace.claim_open add constraint claim_open_pkey PRIMARY KEY (claim_id);
alter table millrace.compute_job add constraint compute_job_hash_check CHECK ((inputs_hash ~ '^[0-9a-f]{64}$'::text));
alter table millrace.compute_job add constraint compute_job_key_check CHECK ((octet_length(compute_key) = 32));
alter table millrace.compute_job add constraint compute_job_pkey PRIMARY KEY (tenant_id, app_id, compute_key);
alter table millrace.counter add constraint counter_pkey PRIMARY KEY (queue_id, tenant_id);
alter table millrace.counter_delta add constraint counter_delta_pkey PRIMARY KEY (delta_id);
alter table millrace.cron add constraint cron_missed_check CHECK ((missed = ANY (ARRAY['one'::text, 'skip'::text])));
alter table millrace.cron add constraint cron_name_key UNIQUE (tenant_id, name);
alter table millrace.cron add constraint cron_pkey PRIMARY KEY (cron_id);
alter table millrace.dedupe_key add constraint dedupe_key_pkey PRIMARY KEY (tenant_id, type_id, dedupe_key);
alter table millrace.delayed add constraint delayed_key_check CHECK (((reason = ANY (ARRAY['serial'::millrace.wait_reason, 'concurrency'::millrace.wait_reason])) = (wait_key IS NOT NULL)));
alter table millrace.delayed add constraint delayed_pkey PRIMARY KEY (job_id);
alter table millrace.dependency add constraint dependency_mode_check CHECK ((mode = ANY (ARRAY['all'::text, 'any'::text])));
alter table millrace.dependency add constraint dependency_on_failure_check CHECK ((on_failure = ANY (ARRAY['cancel'::text, 'run'::text])));
alter table millrace.dependency add constraint dependency_pkey PRIMARY KEY (job_id, depends_on);
alter table millrace.dependency add constraint dependency_self_check CHECK ((job_id <> depends_on));
alter table millrace.event add constraint event_pkey PRIMARY KEY (at, event_id);
alter table millrace.event_floor add constraint event_floor_one_row_check CHECK (only_row);
alter table millrace.event_floor add constraint event_floor_pkey PRIMARY KEY (only_row);
alter table millrace.export_history add constraint export_history_count_check CHECK ((download_count >= 0));
alter table millrace.export_history add constraint export_history_format_check CHECK ((format = 'pdf'::text));
alter table millrace.export_history add constraint export_history_job_key UNIQUE (job_id);
alter table millrace.export_history add constraint export_history_pkey PRIMARY KEY (id);
alter table millrace.export_history add constraint export_history_size_check CHECK ((file_size >= 0));
alter table millrace.handoff add constraint handoff_kind_check CHECK ((kind = ANY (ARRAY['serial'::text, 'concurrency'::text, 'dependency'::text, 'batch'::text])));
alter table millrace.handoff add constraint handoff_pkey PRIMARY KEY (handoff_id);
alter table millrace.http_request add constraint http_request_body_check CHECK ((octet_length(body) <= 262144));
alter table millrace.http_request add constraint http_request_done_check CHECK (((state = 'done'::text) = ((status IS NOT NULL) OR (effect IS NOT NULL))));
alter table millrace.http_request add constraint http_request_pkey PRIMARY KEY (tenant_id, scope, request_key);
alter table millrace.http_request add constraint http_request_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text])));
alter table millrace.idempotency_key add constraint idempotency_key_pkey PRIMARY KEY (tenant_id, idempotency_key);
alter table millrace.imported_job add constraint imported_job_pkey PRIMARY KEY (source, source_schema, source_type, source_id, source_created_at);
alter table millrace.imported_job add constraint imported_job_source_check CHECK ((source = ANY (ARRAY['guardian'::text, 'export'::text, 'baseworker'::text, 'pg-boss'::text, 'graphile-worker'::text])));
alter table millrace.job_fact add constraint job_fact_estimated_tokens_check CHECK ((estimated_tokens > 0));
alter table millrace.job_fact add constraint job_fact_pkey PRIMARY KEY (job_id);
alter table millrace.job_fact add constraint job_fact_priority_check CHECK (((priority >= 0) AND (priority <= 1000)));
alter table millrace.job_history add constraint job_history_final_check CHECK ((status = ANY (ARRAY['completed'::millrace.job_status, 'failed'::millrace.job_status, 'cancelled'::millrace.job_status])));
alter table millrace.job_history add constraint job_history_pkey PRIMARY KEY (job_id, generation);
alter table millrace.job_log add constraint job_log_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text])));
alter table millrace.job_log add constraint job_log_pkey PRIMARY KEY (job_id, log_seq);
alter table millrace.job_type add constraint job_type_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 1000)));
alter table millrace.job_type add constraint job_type_name_check CHECK ((job_type ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,126}$'::text));
alter table millrace.job_type add constraint job_type_name_key UNIQUE (job_type);
alter table millrace.job_type add constraint job_type_pkey PRIMARY KEY (type_id);
alter table millrace.job_type add constraint job_type_priority_check CHECK (((priority_default >= 0) AND (priority_default <= 1000)));
alter table millrace.job_type add constraint job_type_provider_check CHECK (((provider_name IS NULL) = (api_endpoint IS NULL)));
alter table millrace.job_type add constraint job_type_queue_fkey FOREIGN KEY (queue_id) REFERENCES millrace.queue(queue_id);
alter table millrace.job_type add constraint job_type_run_timeout_check CHECK (((run_timeout >= '00:00:00.01'::interval) AND (run_timeout <= '7 days'::interval)));
alter table millrace.keeper_lease add constraint keeper_lease_pkey PRIMARY KEY (duty);
alter table millrace.lane add constraint lane_key UNIQUE (queue_id, type_id, tenant_id, priority);
alter table millrace.lane add constraint lane_pkey PRIMARY KEY (lane_id);
alter table millrace.lane_gap add constraint lane_gap_pkey PRIMARY KEY (lane_id, lane_xid, seq);
alter table millrace.lease add constraint lease_pkey PRIMARY KEY (job_id);
alter table millrace.lease add constraint lease_progress_check CHECK (((progress >= 0) AND (progress <= 100)));
alter table millrace.orphan_note add constraint orphan_note_pkey PRIMARY KEY (note_id);
alter table millrace.provider_bucket add constraint provider_bucket_count_check CHECK (((requests >= 0) AND (tokens >= 0)));
alter table millrace.provider_bucket add constraint provider_bucket_limit_fkey FOREIGN KEY (provider_id) REFERENCES millrace.api_rate_limits(provider_id) ON DELETE CASCADE;
alter table millrace.provider_bucket add constraint provider_bucket_pkey PRIMARY KEY (provider_id, time_window, bucket);
alter table millrace.provider_bucket add constraint provider_bucket_window_check CHECK ((time_window = ANY (ARRAY['minute'::text, 'hour'::text])));
alter table millrace.provider_slot add constraint provider_slot_cost_check CHECK ((estimated_tokens > 0));
alter table millrace.provider_slot add constraint provider_slot_jobs_check CHECK ((jobs > 0));
alter table millrace.provider_slot add constraint provider_slot_limit_fkey FOREIGN KEY (provider_id) REFERENCES millrace.api_rate_limits(provider_id) ON DELETE CASCADE;
alter table millrace.provider_slot add constraint provider_slot_pkey PRIMARY KEY (slot_id);
alter table millrace.queue add constraint queue_age_step_check CHECK ((age_step >= '00:00:00.001'::interval));
alter table millrace.queue add constraint queue_backoff_base_check CHECK ((backoff_base >= '00:00:00'::interval));
alter table millrace.queue add constraint queue_backoff_cap_check CHECK (((backoff_cap >= backoff_base) AND (backoff_cap <= '7 days'::interval)));
alter table millrace.queue add constraint queue_backoff_factor_check CHECK (((backoff_factor >= (1)::numeric) AND (backoff_factor <= (100)::numeric)));
alter table millrace.queue add constraint queue_beat_check CHECK (((beat > '00:00:00'::interval) AND (beat < lease)));
alter table millrace.queue add constraint queue_concurrency_max_check CHECK (((concurrency_max >= 0) AND (concurrency_max <= 100000)));
alter table millrace.queue add constraint queue_depth_max_check CHECK ((depth_max >= 0));
alter table millrace.queue add constraint queue_jitter_check CHECK (((jitter_low >= (0)::numeric) AND (jitter_high >= jitter_low) AND (jitter_high <= (10)::numeric)));
alter table millrace.queue add constraint queue_key_concurrency_max_check CHECK (((key_concurrency_max >= 1) AND (key_concurrency_max <= 100000)));
alter table millrace.queue add constraint queue_lease_check CHECK (((lease >= '00:00:01'::interval) AND (lease <= '1 day'::interval)));
alter table millrace.queue add constraint queue_max_age_check CHECK ((max_age > '00:00:00'::interval));
alter table millrace.queue add constraint queue_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 1000)));
alter table millrace.queue add constraint queue_max_snoozes_check CHECK ((max_snoozes > 0));
alter table millrace.queue add constraint queue_name_check CHECK ((queue ~ '^[a-z0-9][a-z0-9_.:-]{0,62}$'::text));
alter table millrace.queue add constraint queue_name_key UNIQUE (queue);
alter table millrace.queue add constraint queue_pkey PRIMARY KEY (queue_id);
alter table millrace.queue add constraint queue_priority_default_check CHECK (((priority_default >= 0) AND (priority_default <= 1000)));
alter table millrace.queue add constraint queue_reclaim_jitter_check CHECK (((reclaim_jitter >= '00:00:00'::interval) AND (reclaim_jitter <= '01:00:00'::interval)));
alter table millrace.queue add constraint queue_run_timeout_check CHECK (((run_timeout >= '00:00:00.01'::interval) AND (run_timeout <= '7 days'::interval)));
alter table millrace.queue_rate add constraint queue_rate_pkey PRIMARY KEY (queue_id);
alter table millrace.queue_rate add constraint queue_rate_queue_fkey FOREIGN KEY (queue_id) REFERENCES millrace.queue(queue_id) ON DELETE CASCADE;
alter table millrace.queue_slot add constraint queue_slot_pkey PRIMARY KEY (queue_id, slot_no);
alter table millrace.queue_slot add constraint queue_slot_queue_fkey FOREIGN KEY (queue_id) REFERENCES millrace.queue(queue_id) ON DELETE CASCADE;
alter table millrace.ready add constraint ready_pkey PRIMARY KEY (job_id);
alter table millrace.result add constraint result_job_key UNIQUE (job_id);
alter table millrace.result add constraint result_pkey PRIMARY KEY (id);
alter table millrace.schema_function add constraint schema_function_pkey PRIMARY KEY (path);
alter table millrace.schema_migration add constraint schema_migration_pkey PRIMARY KEY (version);
alter table millrace.serial_member add constraint serial_member_pkey PRIMARY KEY (tenant_id, queue_id, serial_key, seq);
alter table millrace.shell_files add constraint shell_files_idempotency_key UNIQUE (tenant_id, owner_id, idempotency_key);
alter table millrace.shell_files add constraint shell_files_key_check CHECK (((octet_length(idempotency_key) >= 1) AND (octet_length(idempotency_key) <= 1024)));
alter table millrace.shell_files add constraint shell_files_name_check CHECK (((octet_length(file_name) >= 1) AND (octet_length(file_name) <= 1024)));
alter table millrace.shell_files add constraint shell_files_patient_fkey FOREIGN KEY (patient_id) REFERENCES millrace.user_profiles(id) ON DELETE CASCADE;
alter table millrace.shell_files add constraint shell_files_pkey PRIMARY KEY (id);
alter table millrace.shell_files add constraint shell_files_status_check CHECK ((status = ANY (ARRAY['uploaded'::text, 'processing'::text, 'completed'::text, 'failed'::text])));
alter table millrace.sqlstate add constraint sqlstate_code_check CHECK ((code ~ '^MR[0-9]{3}$'::text));
alter table millrace.sqlstate add constraint sqlstate_name_key UNIQUE (name);
alter table millrace.sqlstate add constraint sqlstate_pkey PRIMARY KEY (code);
alter table millrace.storage_bucket add constraint storage_bucket_name_check CHECK ((bucket ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'::text));
alter table millrace.storage_bucket add constraint storage_bucket_pkey PRIMARY KEY (bucket);
alter table millrace.storage_object add constraint storage_object_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.storage_object add constraint storage_object_bucket_fkey FOREIGN KEY (bucket) REFERENCES millrace.storage_bucket(bucket);
alter table millrace.storage_object add constraint storage_object_name_check CHECK ((((octet_length(name) >= 1) AND (octet_length(name) <= 1024)) AND (name ~ '^[A-Za-z0-9_/!.*''() &$=@;:+,?-]+$'::text) AND (name !~ '(^|/)(\.{0,2})(/|$)'::text)));
alter table millrace.storage_object add constraint storage_object_name_key UNIQUE (tenant_id, bucket, name);
alter table millrace.storage_object add constraint storage_object_pkey PRIMARY KEY (object_id);
alter table millrace.system_configuration add constraint system_configuration_pkey PRIMARY KEY (config_key);
alter table millrace.tenant add constraint tenant_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 200)));
alter table millrace.tenant add constraint tenant_name_key UNIQUE (name);
alter table millrace.tenant add constraint tenant_pkey PRIMARY KEY (tenant_id);
alter table millrace.tenant add constraint tenant_quota_check CHECK (((quota_bytes >= 0) AND (quota_files >= 0) AND (requests_per_minute >= 0)));
alter table millrace.tenant_usage add constraint tenant_usage_pkey PRIMARY KEY (tenant_id);
alter table millrace.tenant_weight add constraint tenant_weight_check CHECK (((weight >= 1) AND (weight <= 1000)));
alter table millrace.tenant_weight add constraint tenant_weight_pkey PRIMARY KEY (tenant_id);
alter table millrace.upload add constraint upload_done_check CHECK (((state = 'done'::text) = (answer IS NOT NULL)));
alter table millrace.upload add constraint upload_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'object'::text])));
alter table millrace.upload add constraint upload_offset_check CHECK (((offset_bytes >= 0) AND (reserved_bytes >= 0) AND ((size_bytes IS NULL) OR (offset_bytes <= size_bytes))));
alter table millrace.upload add constraint upload_pkey PRIMARY KEY (upload_id);
alter table millrace.upload add constraint upload_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'aborted'::text])));
alter table millrace.upload_part add constraint upload_part_handle_check CHECK (((octet_length(handle) >= 1) AND (octet_length(handle) <= 1024)));
alter table millrace.upload_part add constraint upload_part_pkey PRIMARY KEY (upload_id, offset_bytes);
alter table millrace.upload_part add constraint upload_part_size_check CHECK ((size_bytes > 0));
alter table millrace.usage_delta add constraint usage_delta_pkey PRIMARY KEY (delta_id);
alter table millrace.user_profiles add constraint user_profiles_name_check CHECK (((octet_length(display_name) >= 1) AND (octet_length(display_name) <= 400)));
alter table millrace.user_profiles add constraint user_profiles_pkey PRIMARY KEY (id);
alter table millrace.wake add constraint wake_pkey PRIMARY KEY (queue_id);
alter table millrace.worker add constraint worker_nonce_key UNIQUE (nonce);
alter table millrace.worker add constraint worker_pkey PRIMARY KEY (worker_id);

-- Indexes that no constraint made
CREATE INDEX api_token_tenant_idx ON millrace.api_token USING btree (tenant_id, token_id);
CREATE INDEX artifact_blob_idx ON millrace.artifact USING btree (tenant_id, sha256);
CREATE INDEX artifact_created_idx ON millrace.artifact USING btree (created_at);
CREATE INDEX artifact_expires_idx ON millrace.artifact USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX artifact_job_idx ON millrace.artifact USING btree (job_id);
CREATE INDEX audit_jobs_idx ON ONLY millrace.audit USING gist (millrace.ids_range(job_ids)) WHERE (cardinality(job_ids) > 1);
CREATE INDEX audit_record_idx ON ONLY millrace.audit USING btree (record_id) WHERE (record_id IS NOT NULL);
CREATE INDEX audit_xid_idx ON ONLY millrace.audit USING btree (xid, audit_id);
CREATE UNIQUE INDEX audit_seal_audit_idx ON millrace.audit_seal USING btree (audit_id);
CREATE INDEX batch_tenant_idx ON millrace.batch USING btree (tenant_id, batch_id);
CREATE INDEX blob_object_condemned_idx ON millrace.blob_object USING btree (condemned_at) WHERE (condemned_at IS NOT NULL);
CREATE INDEX blob_object_sha256_idx ON millrace.blob_object USING btree (sha256);
CREATE INDEX blob_object_store_key_idx ON millrace.blob_object USING btree (store_key);
CREATE INDEX claim_span_idx ON ONLY millrace.claim USING gist (span);
CREATE INDEX claim_done_idx ON ONLY millrace.claim_done USING btree (claim_id);
CREATE INDEX claim_open_process_idx ON millrace.claim_open USING btree (process);
CREATE INDEX claim_open_until_idx ON millrace.claim_open USING btree (lease_until);
CREATE INDEX compute_job_asked_idx ON millrace.compute_job USING btree (asked_at);
CREATE INDEX counter_delta_idx ON millrace.counter_delta USING btree (queue_id, tenant_id);
CREATE INDEX cron_due_idx ON millrace.cron USING btree (next_due_at) WHERE enabled;
CREATE INDEX dedupe_key_keep_idx ON millrace.dedupe_key USING btree (keep_until) WHERE (keep_until IS NOT NULL);
CREATE INDEX delayed_deadline_idx ON millrace.delayed USING btree (start_deadline) WHERE (start_deadline IS NOT NULL);
CREATE INDEX delayed_due_idx ON millrace.delayed USING btree (due_at);
CREATE INDEX delayed_key_idx ON millrace.delayed USING btree (queue_id, tenant_id, wait_key, wait_seq) WHERE (wait_key IS NOT NULL);
CREATE INDEX delayed_type_idx ON millrace.delayed USING btree (type_id);
CREATE INDEX dependency_depends_on_idx ON millrace.dependency USING btree (depends_on);
CREATE INDEX event_xid_idx ON ONLY millrace.event USING btree (xid, event_id);
CREATE INDEX export_history_expires_idx ON millrace.export_history USING btree (expires_at);
CREATE INDEX export_history_user_idx ON millrace.export_history USING btree (user_id, created_at DESC);
CREATE INDEX http_request_expires_idx ON millrace.http_request USING btree (expires_at);
CREATE INDEX idempotency_key_created_idx ON millrace.idempotency_key USING btree (created_at);
CREATE INDEX imported_job_job_idx ON millrace.imported_job USING btree (job_id);
CREATE INDEX job_fact_batch_idx ON ONLY millrace.job_fact USING btree (batch_id, job_id) WHERE (batch_id IS NOT NULL);
CREATE INDEX job_fact_lane_idx ON ONLY millrace.job_fact USING btree (lane_id, lane_xid, seq) WHERE (lane_id IS NOT NULL);
CREATE INDEX job_fact_owner_idx ON ONLY millrace.job_fact USING btree (tenant_id, owner_id, job_id) WHERE (owner_id IS NOT NULL);
CREATE INDEX job_history_dead_idx ON ONLY millrace.job_history USING btree (queue_id, fingerprint, job_id) WHERE ((status = 'failed'::millrace.job_status) AND (redriven_at IS NULL));
CREATE INDEX job_history_ended_idx ON ONLY millrace.job_history USING btree (status, job_id) WHERE (status <> 'completed'::millrace.job_status);
CREATE INDEX job_history_tenant_idx ON ONLY millrace.job_history USING btree (tenant_id, status, job_id) WHERE (status <> 'completed'::millrace.job_status);
CREATE INDEX job_intake_xid_idx ON millrace.job_intake USING btree (xid);
CREATE INDEX lane_type_idx ON millrace.lane USING btree (type_id);
CREATE INDEX lane_head_idx ON millrace.lane_head USING btree (lane_id, claim_no);
CREATE INDEX lease_key_idx ON millrace.lease USING btree (queue_id, tenant_id, lease_key) WHERE (lease_key IS NOT NULL);
CREATE INDEX lease_process_idx ON millrace.lease USING btree (process) WHERE (process IS NOT NULL);
CREATE INDEX lease_queue_idx ON millrace.lease USING btree (queue_id);
CREATE INDEX lease_until_idx ON millrace.lease USING btree (lease_until);
CREATE INDEX orphan_note_noted_idx ON millrace.orphan_note USING btree (noted_at);
CREATE INDEX process_death_at_idx ON millrace.process_death USING btree (at);
CREATE INDEX provider_slot_claim_idx ON millrace.provider_slot USING btree (claim_id) WHERE (claim_id IS NOT NULL);
CREATE INDEX provider_slot_job_idx ON millrace.provider_slot USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX provider_slot_provider_idx ON millrace.provider_slot USING btree (provider_id, acquired_at);
CREATE INDEX ready_claim_idx ON millrace.ready USING btree (queue_id, type_id, tenant_id, priority, ready_seq);
CREATE INDEX ready_deadline_idx ON millrace.ready USING btree (start_deadline) WHERE (start_deadline IS NOT NULL);
CREATE INDEX ready_suspect_idx ON millrace.ready USING btree (queue_id, ready_seq) WHERE (suspect_count >= 3);
CREATE INDEX result_created_idx ON millrace.result USING btree (created_at);
CREATE INDEX serial_member_job_idx ON millrace.serial_member USING btree (job_id);
CREATE INDEX shell_files_owner_idx ON millrace.shell_files USING btree (tenant_id, owner_id, id);
CREATE INDEX shell_files_path_idx ON millrace.shell_files USING btree (tenant_id, bucket, storage_path);
CREATE INDEX shell_files_patient_idx ON millrace.shell_files USING btree (patient_id, id);
CREATE INDEX shell_files_waiting_idx ON millrace.shell_files USING btree (created_at) WHERE (job_id IS NULL);
CREATE INDEX storage_object_blob_idx ON millrace.storage_object USING btree (tenant_id, sha256);
CREATE INDEX storage_object_find_idx ON millrace.storage_object USING btree (bucket, name);
CREATE INDEX storage_object_unclaimed_idx ON millrace.storage_object USING btree (updated_at) WHERE ((bucket = 'medical-docs'::text) AND (NOT claimed));
CREATE INDEX upload_expires_idx ON millrace.upload USING btree (expires_at);
CREATE INDEX upload_open_idx ON millrace.upload USING btree (tenant_id) INCLUDE (reserved_bytes, expires_at) WHERE (state = 'open'::text);
CREATE INDEX upload_part_handle_idx ON millrace.upload_part USING btree (handle);
CREATE INDEX usage_delta_tenant_idx ON millrace.usage_delta USING btree (tenant_id);
CREATE INDEX user_profiles_account_idx ON millrace.user_profiles USING btree (account_owner_id);
CREATE INDEX user_profiles_owner_idx ON millrace.user_profiles USING btree (tenant_id, account_owner_id, id);

-- Triggers
CREATE TRIGGER artifact_removed AFTER DELETE ON millrace.artifact REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
CREATE TRIGGER attempt_immutable BEFORE UPDATE ON millrace.attempt FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('attempt');
CREATE TRIGGER audit_immutable BEFORE DELETE OR UPDATE ON millrace.audit FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('audit');
CREATE TRIGGER audit_seal_immutable BEFORE DELETE OR UPDATE ON millrace.audit_seal FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('audit_seal');
CREATE TRIGGER claim_immutable BEFORE DELETE OR UPDATE ON millrace.claim FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('claim');
CREATE TRIGGER claim_done_immutable BEFORE DELETE OR UPDATE ON millrace.claim_done FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('claim_done');
CREATE TRIGGER job_fact_immutable BEFORE UPDATE ON millrace.job_fact FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('job_fact');
CREATE TRIGGER job_history_immutable BEFORE UPDATE ON millrace.job_history FOR EACH ROW EXECUTE FUNCTION millrace.refuse_rewrite();
CREATE TRIGGER job_history_undeleted BEFORE DELETE ON millrace.job_history FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('job_history');
CREATE TRIGGER job_intake_rows AFTER INSERT ON millrace.job_intake REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.intake_rows();
CREATE TRIGGER shell_files_removed AFTER DELETE ON millrace.shell_files REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.release_objects();
CREATE TRIGGER storage_object_added AFTER INSERT ON millrace.storage_object REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_objects();
CREATE TRIGGER storage_object_changed AFTER UPDATE ON millrace.storage_object REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_objects();
CREATE TRIGGER storage_object_removed AFTER DELETE ON millrace.storage_object REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_objects();
CREATE TRIGGER system_configuration_check BEFORE INSERT OR UPDATE ON millrace.system_configuration FOR EACH ROW EXECUTE FUNCTION millrace.check_configuration();

-- Views, by their columns
-- view millrace.export_jobs (
--   id uuid,
--   user_id uuid,
--   document_id uuid,
--   format text,
--   options jsonb,
--   status text,
--   progress integer,
--   attempts integer,
--   max_attempts integer,
--   run_after timestamp with time zone,
--   result_url text,
--   file_size integer,
--   page_count integer,
--   error_message text,
--   locked_by text,
--   started_at timestamp with time zone,
--   completed_at timestamp with time zone,
--   created_at timestamp with time zone,
--   file_path text,
--   batch_id uuid,
--   priority integer)
-- view millrace.job (
--   id uuid,
--   tenant_id uuid,
--   app_id text,
--   definition text,
--   version text,
--   status text,
--   inputs_hash text,
--   payload_json jsonb,
--   attempts integer,
--   priority integer,
--   last_error jsonb,
--   created_at timestamp with time zone,
--   started_at timestamp with time zone,
--   ended_at timestamp with time zone)
-- view millrace.job_place (
--   job_id uuid,
--   tenant_id uuid,
--   queue_id smallint,
--   type_id smallint,
--   place text,
--   status text,
--   reason text,
--   generation smallint,
--   attempt smallint,
--   delivery_count integer,
--   crash_count smallint,
--   suspect_count smallint,
--   snooze_count integer,
--   token uuid,
--   worker_id text,
--   finished_at timestamp with time zone)
-- view millrace.job_queue (
--   id uuid,
--   job_type text,
--   job_name text,
--   job_category text,
--   job_payload jsonb,
--   status text,
--   priority integer,
--   scheduled_at timestamp with time zone,
--   started_at timestamp with time zone,
--   completed_at timestamp with time zone,
--   retry_count integer,
--   max_retries integer,
--   worker_id text,
--   heartbeat_at timestamp with time zone,
--   dead_letter_at timestamp with time zone,
--   error_details jsonb,
--   job_result jsonb,
--   created_at timestamp with time zone,
--   updated_at timestamp with time zone,
--   lease_expires_at timestamp with time zone)
-- view millrace.job_row (
--   job_id uuid,
--   tenant_id uuid,
--   queue_id smallint,
--   type_id smallint,
--   status text,
--   priority smallint,
--   generation smallint,
--   attempt smallint,
--   tries smallint,
--   delivery_count integer,
--   scheduled_at timestamp with time zone,
--   due_at timestamp with time zone,
--   started_at timestamp with time zone,
--   finished_at timestamp with time zone,
--   changed_at timestamp with time zone,
--   worker_id text,
--   renewed_at timestamp with time zone,
--   lease_until timestamp with time zone,
--   progress smallint,
--   progress_message text,
--   progress_data jsonb,
--   result jsonb,
--   error jsonb,
--   reason text,
--   payload jsonb,
--   job_name text,
--   job_category text,
--   owner_id uuid,
--   correlation_id text,
--   pipeline text,
--   stage text,
--   batch_id uuid,
--   parent_id uuid,
--   max_attempts smallint,
--   created_at timestamp with time zone)
-- view millrace.jobs (
--   job_id uuid,
--   tenant_id uuid,
--   queue text,
--   job_type text,
--   status text,
--   stage text,
--   priority integer,
--   scheduled_at timestamp with time zone,
--   created_at timestamp with time zone,
--   started_at timestamp with time zone,
--   finished_at timestamp with time zone,
--   attempt integer,
--   max_attempts integer,
--   delivery_count integer,
--   worker_id text,
--   progress integer,
--   progress_message text,
--   error jsonb,
--   result jsonb,
--   reason text,
--   correlation_id text,
--   batch_id uuid,
--   generation integer,
--   owner_id uuid)
-- view millrace.lane_done (
--   job_id uuid,
--   tenant_id uuid,
--   queue_id smallint,
--   type_id smallint,
--   lane_id integer,
--   claim_id uuid,
--   position integer,
--   worker_id text,
--   claimed_at timestamp with time zone,
--   finished_at timestamp with time zone)
-- view millrace.lane_held (
--   job_id uuid,
--   tenant_id uuid,
--   queue_id smallint,
--   type_id smallint,
--   lane_id integer,
--   claim_id uuid,
--   position integer,
--   worker_id text,
--   claimed_at timestamp with time zone,
--   lease_until timestamp with time zone)
-- view millrace.lane_waiting (
--   job_id uuid,
--   tenant_id uuid,
--   queue_id smallint,
--   type_id smallint,
--   priority smallint,
--   lane_id integer,
--   lane_xid xid8,
--   seq bigint,
--   created_at timestamp with time zone)
-- view millrace.upload_jobs (
--   job_id uuid,
--   user_id uuid,
--   document_id uuid,
--   status text,
--   raw_path text,
--   parsed_path text,
--   parsed_sha256 text,
--   chunks_version text,
--   embed_model text,
--   embed_version text,
--   progress jsonb,
--   retry_count integer,
--   last_error jsonb,
--   webhook_secret text,
--   created_at timestamp with time zone,
--   updated_at timestamp with time zone)

-- Functions, by their signatures; the bodies are in sql/functions
-- function millrace.abort_upload(p_upload_id uuid, p_user uuid DEFAULT NULL::uuid) returns boolean volatile security definer
-- function millrace.accept_imports(p_source text, p_schema text, p_rows millrace.import_row[], p_map jsonb) returns SETOF millrace.import_answer volatile security definer
-- function millrace.acquire_api_capacity(p_provider_name text, p_api_endpoint text, p_estimated_tokens integer DEFAULT 1000) returns boolean volatile security definer
-- function millrace.actor() returns text stable
-- function millrace.adopt_files(p_limit integer) returns integer volatile security definer
-- function millrace.advance(p_limit integer) returns integer volatile security definer
-- function millrace.advance_batch(p_batch_id uuid, p_completed integer, p_failed integer, p_cancelled integer) returns void volatile
-- function millrace.advance_dependent(p_job_id uuid) returns void volatile
-- function millrace.advance_keys(p_keys millrace.held_key[]) returns void volatile
-- function millrace.advance_upload(p_upload_id uuid, p_writer uuid, p_offset bigint, p_size bigint, p_handle text) returns bigint volatile security definer
-- function millrace.allowed_job_types() returns text[] stable
-- function millrace.answers_of(p_items millrace.moving[], p_done millrace.moving[]) returns TABLE(job_id uuid, answer text) stable
-- function millrace.append_logs(p_worker_id text, p_items jsonb) returns integer volatile security definer
-- function millrace.arm_wake(p_queue_id smallint) returns void volatile
-- aggregate millrace.audit_chain(bytea, bytea) returns bytea immutable
-- function millrace.audit_checkpoint(p_tenant uuid DEFAULT NULL::uuid) returns jsonb stable security definer
-- function millrace.audit_digest(p_row millrace.audit) returns bytea immutable
-- function millrace.audit_for(p_tenant uuid, p_table text, p_record text, p_action text, p_old jsonb, p_new jsonb, p_reason text, p_patient_id uuid DEFAULT NULL::uuid) returns void volatile
-- function millrace.audit_jobs(p_action text, p_job_ids uuid[], p_reason text) returns void volatile
-- function millrace.audit_link(p_state bytea, p_seed bytea, p_digest bytea) returns bytea immutable
-- function millrace.audit_policy(p_table text, p_record text, p_old jsonb, p_new jsonb, p_reason text) returns void volatile
-- function millrace.audit_seed(p_tenant uuid) returns bytea immutable
-- function millrace.backoff_delay(p_queue_id smallint, p_failures integer) returns interval volatile
-- function millrace.backpressure_delay(p_provider_id integer) returns interval stable
-- function millrace.beat_worker(p_worker_id text, p_process uuid, p_info jsonb DEFAULT '{}'::jsonb) returns jsonb volatile security definer
-- function millrace.begin_request(p_scope text, p_key text, p_fingerprint bytea, p_lease interval DEFAULT '00:01:00'::interval, p_keep interval DEFAULT '1 day'::interval) returns TABLE(answer text, token uuid, status integer, headers jsonb, body bytea, effect jsonb) volatile security definer
-- function millrace.begin_upload(p_upload jsonb) returns jsonb volatile security definer
-- function millrace.bucket_at(p_at timestamp with time zone, p_window interval) returns bigint immutable
-- function millrace.bucket_length(p_window interval) returns bigint immutable
-- function millrace.bucket_start(p_bucket bigint, p_window interval) returns timestamp with time zone immutable
-- function millrace.calculate_retry_delay(p_attempt integer) returns integer immutable
-- function millrace.caller() returns text stable
-- function millrace.can_process_more_jobs() returns boolean stable security definer
-- function millrace.cancel_job(p_job_id uuid, p_user_id uuid DEFAULT NULL::uuid, p_reason text DEFAULT NULL::text) returns boolean volatile security definer
-- function millrace.cancel_jobs(p_job_ids uuid[], p_reason text DEFAULT NULL::text) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.cancel_mine(p_job_ids uuid[], p_reason text DEFAULT NULL::text) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.cancel_one(p_job_id uuid, p_scope uuid, p_reason text) returns text volatile
-- function millrace.capacity_charge(p_provider_id integer, p_requests bigint, p_cost bigint, OUT at timestamp with time zone, OUT minute_bucket bigint, OUT hour_bucket bigint, OUT slot_lease interval) returns record volatile
-- function millrace.capacity_room(p_provider_id integer, OUT requests integer, OUT tokens bigint, OUT retry_at timestamp with time zone) returns record volatile
-- function millrace.capacity_settle(p_job_ids uuid[], p_tokens uuid[], p_type_ids smallint[], p_outcomes text[], p_actual bigint[], p_until timestamp with time zone[], p_reasons text[]) returns void volatile
-- function millrace.capacity_take(p_provider_id integer, p_job_ids uuid[], p_tokens uuid[], p_worker_id text, p_estimates bigint[], p_lease_until timestamp with time zone) returns void volatile
-- function millrace.capacity_take_claim(p_provider_id integer, p_claim_id uuid, p_jobs integer, p_cost bigint, p_worker_id text, p_lease_until timestamp with time zone) returns void volatile
-- function millrace.check_bucket(p_bucket text, p_size bigint, p_type text) returns void stable
-- function millrace.check_configuration() returns trigger volatile
-- function millrace.check_depth(p_queue_id smallint, p_tenant uuid, p_queue text, p_max bigint, p_adding bigint) returns void stable
-- function millrace.check_object_name(p_bucket text, p_name text, p_user uuid) returns void stable
-- function millrace.check_open(p_upload millrace.upload) returns void stable
-- function millrace.check_remote_worker(p_worker_id text, p_process uuid, p_token uuid, p_gone boolean DEFAULT false) returns void volatile security definer
-- function millrace.check_room(p_facts millrace.job_fact[], p_tenant uuid, p_follow_up boolean) returns void stable
-- function millrace.check_specs(p_specs millrace.job_spec[], p_tenant uuid) returns void stable
-- function millrace.check_storage_quota(p_user_id uuid) returns jsonb stable security definer
-- function millrace.check_stored(p_blob jsonb) returns void stable
-- function millrace.check_tenant(p_tenant uuid) returns void stable
-- function millrace.check_time_zone(p_time_zone text) returns void stable
-- function millrace.claim_core(p_worker_id text, p_process uuid, p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_owner uuid, p_limit integer, p_lease interval, p_take_capacity boolean, p_marks jsonb, p_alone boolean, p_ranges boolean, p_bare boolean) returns SETOF millrace.delivery volatile
-- function millrace.claim_group(p_queue_id smallint, p_type_id smallint, p_tenant_id uuid, p_priority smallint, p_mark bigint, p_limit integer, p_cutoff timestamp with time zone, p_owner uuid, p_worker_id text, p_process uuid, p_lease interval, p_provider_id integer, p_alone boolean) returns SETOF millrace.lease volatile
-- function millrace.claim_groups(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid) returns TABLE(queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, ready_at timestamp with time zone) volatile
-- function millrace.claim_jobs(p_worker_id text, p_process uuid, p_queue text, p_limit integer, p_job_types text[] DEFAULT NULL::text[], p_marks jsonb DEFAULT NULL::jsonb, p_alone boolean DEFAULT false, p_ranges boolean DEFAULT false, p_plan boolean DEFAULT false, p_bare boolean DEFAULT false) returns SETOF millrace.delivery volatile security definer
-- function millrace.claim_jobs_of(p_data jsonb) returns uuid[] stable
-- function millrace.claim_lane(p_lane_id integer, p_limit integer, p_cutoff timestamp with time zone, p_worker_id text, p_process uuid, p_wait boolean, p_provider_id integer, p_lines boolean) returns millrace.delivery volatile
-- function millrace.claim_lines(p_worker_id text, p_claim_id uuid) returns text volatile security definer
-- function millrace.claim_marked_groups(p_marks jsonb, p_queue_ids smallint[], p_type_ids smallint[]) returns TABLE(queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, ready_at timestamp with time zone) stable
-- function millrace.claim_next_job(worker_id text, job_types text[] DEFAULT NULL::text[]) returns TABLE(job_id uuid, job_type text, payload jsonb, retry_count integer) volatile security definer
-- function millrace.claim_next_job_v3(worker_id text, job_types text[] DEFAULT NULL::text[]) returns TABLE(job_id uuid, job_type text, job_payload jsonb, retry_count integer) volatile security definer
-- function millrace.claim_of(p_token uuid) returns uuid immutable
-- function millrace.claim_order(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_limit integer, p_take_capacity boolean, p_marks jsonb, p_alone boolean) returns TABLE(round integer, turn double precision, quota integer, queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, lane_id integer, ready_at timestamp with time zone, age_step interval, provider_id integer, plain boolean, effective numeric, next_effective numeric) volatile
-- function millrace.claim_size(p_claim_id uuid) returns integer immutable
-- function millrace.claim_suspects(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid) returns TABLE(queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, ready_at timestamp with time zone) stable
-- function millrace.claim_token(p_claim_id uuid, p_position integer) returns uuid immutable
-- function millrace.claimed_tenant() returns uuid stable
-- function millrace.clear_override(p_provider_name text, p_api_endpoint text) returns boolean volatile security definer
-- function millrace.complete_claims(p_worker_id text, p_claim_ids uuid[], p_done bit varying[]) returns SETOF bit varying volatile security definer
-- function millrace.complete_job(p_job_id uuid, p_worker_id text, p_job_result jsonb DEFAULT NULL::jsonb) returns boolean volatile security definer
-- function millrace.complete_jobs(p_worker_id text, p_job_ids uuid[], p_tokens uuid[], p_results jsonb DEFAULT NULL::jsonb) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.condemn_blobs(p_limit integer) returns TABLE(tenant_id uuid, sha256 bytea, store_key text, removable boolean, if_stored_before timestamp with time zone) volatile security definer
-- function millrace.config_bigint(p_key text, p_default bigint) returns bigint stable
-- function millrace.config_boolean(p_key text, p_default boolean) returns boolean stable
-- function millrace.config_integer(p_key text, p_default integer) returns integer stable
-- function millrace.count_download(p_history_id uuid) returns jsonb volatile security definer
-- function millrace.count_objects() returns trigger volatile
-- function millrace.create_api_token(p_token jsonb) returns uuid volatile security definer
-- function millrace.create_batch(p_jobs jsonb, p_options jsonb DEFAULT '{}'::jsonb) returns uuid volatile security definer
-- function millrace.create_export_history(p_row jsonb) returns SETOF millrace.export_history volatile security definer
-- function millrace.create_export_job(p_user_id uuid, p_document_id uuid, p_options jsonb DEFAULT '{}'::jsonb) returns uuid volatile security definer
-- function millrace.create_profile(p_name text, p_owner uuid DEFAULT NULL::uuid, p_id uuid DEFAULT NULL::uuid) returns uuid volatile security definer
-- function millrace.create_tenant(p_name text, p_tenant uuid DEFAULT NULL::uuid, p_options jsonb DEFAULT '{}'::jsonb) returns uuid volatile security definer
-- function millrace.cron_field(p_field text, p_text text, p_low integer, p_high integer, p_names text[]) returns integer[] immutable
-- function millrace.cron_match(p_from timestamp without time zone, p_end timestamp without time zone, p_seconds integer[], p_minutes integer[], p_hours integer[], p_days integer[], p_months integer[], p_weekdays integer[], p_either_day boolean) returns timestamp without time zone immutable
-- function millrace.cron_next(p_schedule text, p_after timestamp with time zone, p_time_zone text DEFAULT 'UTC'::text) returns timestamp with time zone stable security definer
-- function millrace.cron_now(p_name text) returns uuid volatile security definer
-- function millrace.cron_overview() returns TABLE(cron_id uuid, tenant_id uuid, name text, schedule text, time_zone text, enabled boolean, missed text, next_due_at timestamp with time zone, last_due_at timestamp with time zone, last_job_id uuid, last_error text, job jsonb) stable security definer
-- function millrace.cron_parse(p_schedule text, OUT seconds integer[], OUT minutes integer[], OUT hours integer[], OUT days integer[], OUT months integer[], OUT weekdays integer[], OUT either_day boolean, OUT every boolean) returns record immutable
-- function millrace.cron_value(p_field text, p_text text, p_low integer, p_high integer, p_names text[]) returns integer immutable
-- function millrace.current_tenant() returns uuid stable
-- function millrace.current_user_id() returns uuid stable
-- function millrace.dead_candidates(p_queue_id smallint, p_fingerprint text, p_before uuid, p_limit integer) returns uuid[] stable
-- function millrace.dead_groups(p_queue text DEFAULT NULL::text, p_limit integer DEFAULT 100) returns TABLE(queue text, fingerprint text, jobs bigint, reason text, message text, first_at timestamp with time zone, last_at timestamp with time zone, example uuid) stable security definer
-- function millrace.default_profile_id(p_tenant uuid, p_owner uuid) returns uuid immutable
-- function millrace.delete_cron(p_name text) returns void volatile security definer
-- function millrace.delete_export_history(p_ids uuid[]) returns SETOF millrace.export_history volatile security definer
-- function millrace.delete_profile(p_profile_id uuid) returns void volatile security definer
-- function millrace.delete_shell_files(p_ids uuid[]) returns SETOF millrace.shell_files volatile security definer
-- function millrace.deliveries_of(p_leases millrace.lease[]) returns SETOF millrace.delivery stable
-- function millrace.disable_tenant(p_tenant uuid, p_reason text DEFAULT NULL::text) returns void volatile security definer
-- function millrace.drop_exports(p_ids uuid[], p_reason text) returns SETOF millrace.export_history volatile
-- function millrace.drop_files(p_ids uuid[], p_reason text) returns SETOF millrace.shell_files volatile
-- function millrace.drop_job_partition(p_suffix text, p_keep_after timestamp with time zone) returns integer volatile
-- function millrace.drop_time_partitions(p_table text, p_before timestamp with time zone) returns integer volatile
-- function millrace.effective_limit(p_provider_id integer) returns TABLE(status text, requests_per_minute bigint, requests_per_hour bigint, tokens_per_minute bigint, tokens_per_hour bigint, concurrent_requests bigint, overridden boolean) stable
-- function millrace.elect(p_duty text, p_holder text, p_ttl interval) returns boolean volatile security definer
-- function millrace.empty_intake() returns integer volatile security definer
-- function millrace.enable_tenant(p_tenant uuid) returns void volatile security definer
-- function millrace.end_claims(p_claim_ids uuid[]) returns millrace.moving[] volatile
-- function millrace.enqueue_array(p_job_type text, p_payloads jsonb[], p_options jsonb DEFAULT '{}'::jsonb) returns SETOF uuid volatile security definer
-- function millrace.enqueue_cron(p_tenant uuid, p_name text, p_job jsonb) returns uuid volatile
-- function millrace.enqueue_job(p_job_type text, p_payload jsonb, p_options jsonb DEFAULT '{}'::jsonb) returns uuid volatile security definer
-- function millrace.enqueue_job_v3(job_type text, job_name text, job_payload jsonb, job_category text DEFAULT 'standard'::text, priority integer DEFAULT 5, scheduled_at timestamp with time zone DEFAULT now()) returns uuid volatile security definer
-- function millrace.enqueue_jobs(p_jobs jsonb) returns TABLE(ord integer, job_id uuid, answer text) volatile security definer
-- function millrace.enqueue_plain(p_job_type text, p_queue text, p_priority integer, p_payloads jsonb[], p_tenant uuid) returns SETOF uuid volatile
-- function millrace.enqueue_plain_jobs(p_jobs jsonb, p_tenant uuid) returns TABLE(ord integer, job_id uuid, answer text) volatile
-- function millrace.enqueue_singles(p_jobs jsonb) returns TABLE(ord integer, job_id uuid, answer text) volatile security definer
-- function millrace.enqueue_specs(p_specs millrace.job_spec[], p_tenant uuid, p_follow_up boolean DEFAULT false) returns TABLE(ord integer, job_id uuid, answer text) volatile
-- function millrace.ensure_job_types(p_types text[], p_queue text) returns integer volatile security definer
-- function millrace.ensure_profile(p_tenant uuid, p_owner uuid) returns uuid volatile
-- function millrace.error_text(p_error jsonb) returns text immutable
-- function millrace.event_tail() returns TABLE(xid xid8, seq bigint, late_xids xid8[]) stable security definer
-- function millrace.events_after(p_xid xid8, p_seq bigint, p_late_xids xid8[], p_late_seqs bigint[], p_scope jsonb, p_scan integer DEFAULT 5000) returns TABLE(snapshot text, too_old boolean, late boolean, xid xid8, event_id bigint, at timestamp with time zone, tenant_id uuid, kind text, queue text, job_ids uuid[], data jsonb) stable security definer
-- function millrace.expire_defaults(p_before timestamp with time zone, p_limit integer) returns integer volatile
-- function millrace.expire_exports(p_limit integer) returns integer volatile security definer
-- function millrace.expire_keys(p_limit integer) returns integer volatile security definer
-- function millrace.expire_ready(p_rows millrace.ready[]) returns void volatile
-- function millrace.expire_results(p_limit integer) returns integer volatile
-- function millrace.expire_slots(p_limit integer) returns integer volatile security definer
-- function millrace.expire_uploads(p_limit integer) returns TABLE(upload_id uuid, handle text, if_stored_before timestamp with time zone) volatile security definer
-- function millrace.expire_waiting(p_limit integer) returns integer volatile security definer
-- function millrace.explain_stale(p_job_id uuid, p_token uuid) returns text stable
-- function millrace.exposed_names() returns TABLE(kind text, name text) immutable
-- function millrace.extend_leases(p_worker_id text, p_job_ids uuid[], p_tokens uuid[], p_extend_ms bigint) returns TABLE(job_id uuid, answer text, cancel_requested boolean) volatile security definer
-- function millrace.fail_job(p_job_id uuid, p_worker_id text, p_error jsonb, p_retryable boolean DEFAULT true, p_retry_after integer DEFAULT NULL::integer) returns boolean volatile security definer
-- function millrace.fail_ready(p_rows millrace.ready[], p_reason text, p_error jsonb) returns void volatile
-- function millrace.fetch_next_export_job(p_user_id uuid DEFAULT NULL::uuid) returns TABLE(id uuid, user_id uuid, document_id uuid, format text, options jsonb, status text, progress integer, attempts integer, max_attempts integer, run_after timestamp with time zone, result_url text, file_size integer, page_count integer, error_message text, locked_by text, started_at timestamp with time zone, completed_at timestamp with time zone, created_at timestamp with time zone) volatile security definer
-- function millrace.file_json(p_file millrace.shell_files) returns jsonb stable
-- function millrace.find_api_token(p_public_id text, p_hash bytea) returns TABLE(token_id uuid, hash bytea, role text, tenant_id uuid, user_id uuid, scopes text[], expires_at timestamp with time zone, revoked boolean) stable security definer
-- function millrace.find_claim(p_lane_id integer, p_seq bigint, p_job_id uuid, p_created_at timestamp with time zone) returns TABLE(claim_id uuid, claimed_at timestamp with time zone, worker_id text, "position" integer) stable
-- function millrace.find_upload(p_upload_id uuid, p_user uuid, p_lock boolean) returns millrace.upload volatile
-- function millrace.fingerprint(p_error jsonb) returns text immutable
-- function millrace.finish_file(p_upload millrace.upload, p_blob jsonb) returns jsonb volatile
-- function millrace.finish_request(p_scope text, p_key text, p_token uuid, p_status integer, p_headers jsonb, p_body bytea) returns void volatile security definer
-- function millrace.finish_upload(p_upload_id uuid, p_blob jsonb, p_user uuid DEFAULT NULL::uuid) returns jsonb volatile security definer
-- function millrace.finished_brief(p_job millrace.job_brief, p_full boolean) returns millrace.job_brief stable
-- function millrace.fold_counters() returns integer volatile security definer
-- function millrace.fold_usage(p_tenant uuid) returns void volatile
-- function millrace.fold_usages(p_limit integer) returns integer volatile
-- function millrace.forget_blobs(p_tenants uuid[], p_sha256 bytea[]) returns integer volatile security definer
-- function millrace.forget_imports(p_source text, p_schema text) returns bigint volatile security definer
-- function millrace.forget_parts(p_upload_ids uuid[], p_handles text[]) returns integer volatile security definer
-- function millrace.free_slots(p_queue_id smallint, p_max integer, p_limit integer) returns integer[] volatile
-- function millrace.get_batch(p_batch_id uuid) returns jsonb stable security definer
-- function millrace.get_file(p_file_id uuid) returns jsonb stable security definer
-- function millrace.get_job(p_job_id uuid) returns jsonb stable security definer
-- function millrace.get_job_status(p_job_id uuid, p_user_id uuid) returns TABLE(id uuid, user_id uuid, document_id uuid, format text, options jsonb, status text, progress integer, attempts integer, max_attempts integer, run_after timestamp with time zone, result_url text, file_size integer, page_count integer, error_message text, locked_by text, started_at timestamp with time zone, completed_at timestamp with time zone, created_at timestamp with time zone) stable security definer
-- function millrace.get_object(p_bucket text, p_name text) returns jsonb stable security definer
-- function millrace.get_result(p_job_id uuid) returns jsonb stable security definer
-- function millrace.get_upload(p_upload_id uuid, p_user uuid DEFAULT NULL::uuid) returns jsonb volatile security definer
-- function millrace.grow_upload(p_upload_id uuid, p_user uuid, p_bytes bigint, p_size bigint DEFAULT NULL::bigint) returns void volatile security definer
-- function millrace.hand_back_leases(p_worker_id text, p_process uuid) returns integer volatile
-- function millrace.hand_back_process(p_supervisor_id text, p_worker_id text) returns integer volatile security definer
-- function millrace.has_profile_access(p_profile_id uuid) returns boolean stable security definer
-- function millrace.health_counts() returns jsonb stable security definer
-- function millrace.horizon() returns TABLE(kind text, name text, pid integer, state text, age_seconds integer, xids bigint, hint text, dead_rows bigint, dead_table text) stable
-- function millrace.id_at(p_at timestamp with time zone) returns uuid immutable
-- function millrace.id_prefix(p_id uuid) returns bigint immutable
-- function millrace.id_time(p_id uuid) returns timestamp with time zone immutable
-- function millrace.ids_range(p_ids uuid[]) returns int8range immutable
-- function millrace.import_baseworker(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[]) returns SETOF millrace.import_row volatile
-- function millrace.import_batch(p_source text, p_schema text, p_limit integer DEFAULT 1000, p_map jsonb DEFAULT '{}'::jsonb, p_skip text[] DEFAULT '{}'::text[], p_skip_types text[] DEFAULT '{}'::text[]) returns SETOF millrace.import_answer volatile
-- function millrace.import_counts(p_source text, p_schema text, p_rows millrace.import_row[], p_map jsonb) returns SETOF millrace.import_count stable
-- function millrace.import_cross_off(p_source text, p_schema text, p_map jsonb, p_answers millrace.import_answer[]) returns integer volatile
-- function millrace.import_export(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[]) returns SETOF millrace.import_row volatile
-- function millrace.import_fits(p_payload jsonb) returns boolean immutable
-- function millrace.import_graphile_worker(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[]) returns SETOF millrace.import_row volatile
-- function millrace.import_guardian(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[]) returns SETOF millrace.import_row volatile
-- function millrace.import_json(p_text text) returns jsonb immutable
-- function millrace.import_payload(p_data jsonb) returns jsonb immutable
-- function millrace.import_pg_boss(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[]) returns SETOF millrace.import_row volatile
-- function millrace.import_rank(p_base integer, p_more bigint) returns integer immutable
-- function millrace.import_read(p_source text, p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[]) returns SETOF millrace.import_row volatile
-- function millrace.import_report(p_source text, p_schema text, p_map jsonb DEFAULT '{}'::jsonb) returns SETOF millrace.import_count stable
-- function millrace.import_restore(p_source text, p_schema text, p_rows millrace.imported_job[]) returns integer volatile
-- function millrace.import_table(p_schema text, p_names text[], p_columns text[]) returns text stable
-- function millrace.import_time(p_text text) returns timestamp with time zone stable
-- function millrace.import_undo(p_source text, p_schema text, p_limit integer DEFAULT 1000) returns SETOF millrace.import_answer volatile
-- function millrace.imports_overview(p_source text, p_schema text) returns TABLE(source_type text, place text, jobs bigint) stable security definer
-- function millrace.intake_rows() returns trigger volatile security definer
-- function millrace.is_blob_used(p_tenant uuid, p_sha256 bytea) returns boolean stable
-- function millrace.is_service_role() returns boolean stable
-- function millrace.is_tenant_disabled(p_tenant uuid) returns boolean stable security definer
-- function millrace.is_token_revoked(p_token text) returns boolean stable security definer
-- function millrace.job_audit(p_job_id uuid) returns TABLE(at timestamp with time zone, audit_id bigint, action text, operation text, status text, actor text, worker_id text, reason text, category text, patient_id uuid, old_values jsonb, new_values jsonb, jobs integer) stable security definer
-- function millrace.job_brief_of(p_job_id uuid, p_full boolean DEFAULT true) returns millrace.job_brief stable
-- function millrace.job_candidates(p_status text, p_queue_id smallint, p_type_id smallint, p_tenant uuid, p_owner uuid, p_batch uuid, p_before uuid, p_limit integer) returns uuid[] stable
-- function millrace.job_detail(p_job_id uuid) returns jsonb stable security definer
-- function millrace.job_line(p_job_id uuid, p_payload jsonb, p_job_name text, p_correlation_id text, p_traceparent text, p_pipeline text, p_stage text, p_parent_id uuid) returns text stable
-- function millrace.job_log_page(p_job_id uuid, p_after bigint DEFAULT 0, p_limit integer DEFAULT 1000) returns TABLE(log_seq bigint, at timestamp with time zone, delivery integer, level text, message text) stable security definer
-- function millrace.job_logs(p_job_id uuid, p_limit integer DEFAULT 1000) returns TABLE(at timestamp with time zone, delivery integer, level text, message text) stable security definer
-- function millrace.job_partitions() returns TABLE(suffix text, starts_at timestamp with time zone, ends_at timestamp with time zone) stable
-- function millrace.job_status(p_job_id uuid) returns json stable security definer
-- function millrace.job_statuses(p_job_ids uuid[]) returns TABLE(ord integer, brief json) stable security definer
-- function millrace.job_summaries(p_job_ids uuid[]) returns TABLE(job_id uuid, status text, summary jsonb) stable
-- function millrace.job_visible(p_tenant uuid, p_owner uuid, p_scope uuid) returns boolean stable
-- function millrace.json_integer(p_object jsonb, p_key text) returns integer immutable
-- function millrace.jsonb_merge(p_state jsonb, p_value jsonb) returns jsonb immutable
-- aggregate millrace.jsonb_merge_agg(jsonb) returns jsonb immutable
-- function millrace.judge_imports(p_source text, p_schema text, p_rows millrace.import_row[], p_map jsonb) returns SETOF millrace.import_verdict stable security definer
-- function millrace.judge_keys(p_rows millrace.ready[], p_tenant uuid, p_queue_id smallint, p_max integer) returns TABLE(job_id uuid, key text, seq bigint, verdict text) volatile
-- function millrace.jwt_claims() returns jsonb stable
-- function millrace.keep_a_little() returns void volatile
-- function millrace.keep_effect(p_scope text, p_key text, p_token uuid, p_effect jsonb) returns jsonb volatile security definer
-- function millrace.keeper_is_stale() returns boolean volatile
-- function millrace.key_lock(p_tenant uuid, p_queue_id smallint, p_key text) returns bigint immutable
-- function millrace.lane_for(p_queue_id smallint, p_type_id smallint, p_tenant uuid, p_priority smallint) returns integer volatile
-- function millrace.lane_groups(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_lanes integer[]) returns TABLE(queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, lane_id integer, ready_at timestamp with time zone) volatile
-- function millrace.lane_state(p_job_id uuid) returns TABLE(state text, claim_id uuid, worker_id text, started_at timestamp with time zone, lease_until timestamp with time zone, finished_at timestamp with time zone) stable
-- function millrace.lease_ready(p_job_ids uuid[], p_worker_id text, p_process uuid, p_lease interval, p_run_timeout interval, p_queue_lease interval, p_alone boolean) returns millrace.lease[] volatile
-- function millrace.limit_fields() returns TABLE(field text, kind text, low numeric, high numeric, nullable boolean, overridable boolean) immutable
-- function millrace.limits_overview() returns TABLE(provider_id integer, provider_name text, api_endpoint text, status text, requests_per_minute bigint, requests_per_hour bigint, tokens_per_minute bigint, tokens_per_hour bigint, concurrent_requests bigint, effective_requests_per_minute bigint, effective_requests_per_hour bigint, effective_tokens_per_minute bigint, effective_tokens_per_hour bigint, effective_concurrent_requests bigint, overridden boolean, override_reason text, override_by text, override_expires_at timestamp with time zone, used_requests_minute bigint, used_requests_hour bigint, used_tokens_minute bigint, used_tokens_hour bigint, active_slots bigint, breaker_state text, breaker_until timestamp with time zone, breaker_reason text, throttled_until timestamp with time zone, rate_limit_violations bigint, last_rate_limit_hit timestamp with time zone, waiting_jobs bigint, queue_depth_limit integer) stable security definer
-- function millrace.list_api_tokens(p_before uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 100, p_all boolean DEFAULT false) returns TABLE(token_id uuid, tenant_id uuid, user_id uuid, role text, kind text, prefix text, name text, scopes text[], created_at timestamp with time zone, created_by text, expires_at timestamp with time zone, revoked_at timestamp with time zone, last_used_at timestamp with time zone) stable security definer
-- function millrace.list_audit(p_before_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_before_id bigint DEFAULT NULL::bigint, p_action text DEFAULT NULL::text, p_table_name text DEFAULT NULL::text, p_record_id text DEFAULT NULL::text, p_patient_id uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 100) returns json stable security definer
-- function millrace.list_batches(p_before uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 50) returns TABLE(batch_id uuid, tenant_id uuid, name text, total integer, completed integer, failed integer, cancelled integer, pending integer, progress numeric, sealed_at timestamp with time zone, finished_at timestamp with time zone, callback_job_id uuid, created_at timestamp with time zone) stable security definer
-- function millrace.list_files(p_before uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 50, p_patient uuid DEFAULT NULL::uuid) returns SETOF jsonb stable security definer
-- function millrace.list_jobs(p_filter jsonb DEFAULT '{}'::jsonb, p_limit integer DEFAULT 50, p_before uuid DEFAULT NULL::uuid) returns jsonb stable security definer
-- function millrace.list_objects(p_bucket text, p_prefix text, p_limit integer DEFAULT 100, p_offset integer DEFAULT 0, p_sort text DEFAULT 'name'::text, p_descending boolean DEFAULT false, p_search text DEFAULT ''::text) returns TABLE(name text, id uuid, created_at timestamp with time zone, updated_at timestamp with time zone, size_bytes bigint, content_type text, cache_control text, sha256 bytea) stable security definer
-- function millrace.list_profiles(p_after uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 100, p_id uuid DEFAULT NULL::uuid, p_owner uuid DEFAULT NULL::uuid) returns TABLE(id uuid, tenant_id uuid, account_owner_id uuid, display_name text, created_at timestamp with time zone, updated_at timestamp with time zone) stable security definer
-- function millrace.list_tenants(p_after uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 100, p_tenant uuid DEFAULT NULL::uuid) returns TABLE(tenant_id uuid, name text, quota_bytes bigint, quota_files bigint, used_bytes bigint, used_files bigint, requests_per_minute integer, disabled_at timestamp with time zone, disabled_reason text, created_at timestamp with time zone) stable security definer
-- function millrace.log_audit_event(p_table_name text, p_record_id text, p_operation text, p_old_values jsonb, p_new_values jsonb, p_reason text, p_category text DEFAULT 'system'::text, p_patient_id uuid DEFAULT NULL::uuid) returns bigint volatile security definer
-- function millrace.lose_jobs(p_rows millrace.moving[], p_alone uuid[], p_timed uuid[], p_error_type text, p_process_death boolean, p_at_once boolean) returns void volatile
-- function millrace.maintain_partitions() returns jsonb volatile security definer
-- function millrace.make_job_partition(p_from timestamp with time zone, p_to timestamp with time zone) returns integer volatile
-- function millrace.make_time_partition(p_table text, p_from timestamp with time zone, p_to timestamp with time zone) returns integer volatile
-- function millrace.merge_outcomes(p_rows millrace.moving[], p_items millrace.moving[]) returns millrace.moving[] stable
-- function millrace.metrics_snapshot() returns TABLE(metric text, label text, label_value text, value double precision) volatile security definer
-- function millrace.moving_of(p_lease millrace.lease) returns millrace.moving immutable
-- function millrace.moving_of_fact(p_fact millrace.job_fact, p_token uuid, p_worker_id text, p_started_at timestamp with time zone) returns millrace.moving volatile
-- function millrace.new_claim_id(p_jobs integer) returns uuid volatile
-- function millrace.new_id() returns uuid volatile
-- function millrace.next_object(p_scope uuid, p_owner uuid, p_bucket text, p_from text, p_below text) returns millrace.storage_object stable
-- function millrace.note_artifacts() returns trigger volatile
-- function millrace.note_deaths(p_processes uuid[]) returns void volatile
-- function millrace.note_dependents(p_job_ids uuid[]) returns void volatile
-- function millrace.now() returns timestamp with time zone volatile security definer
-- function millrace.object_json(p_object millrace.storage_object) returns jsonb stable
-- function millrace.object_visible(p_tenant uuid, p_owner uuid, p_scope uuid) returns boolean stable
-- function millrace.open_batch(p_options jsonb DEFAULT '{}'::jsonb) returns uuid volatile security definer
-- function millrace.override_limit(p_provider_name text, p_api_endpoint text, p_values jsonb, p_reason text, p_ttl interval DEFAULT NULL::interval) returns void volatile security definer
-- function millrace.park_ready(p_job_ids uuid[], p_keys text[], p_seqs bigint[]) returns void volatile
-- function millrace.parse_time(p_text text, p_field text) returns timestamp with time zone stable
-- function millrace.partition_start(p_at timestamp with time zone, p_step interval) returns timestamp with time zone immutable
-- function millrace.pause_queue(p_queue text, p_reason text DEFAULT NULL::text) returns void volatile security definer
-- function millrace.pin_claimed(p_worker_id text, p_job_ids uuid[], p_tokens uuid[]) returns integer volatile
-- function millrace.place_new(p_specs millrace.job_spec[], p_facts millrace.job_fact[], p_tenant uuid, p_now timestamp with time zone) returns void volatile
-- function millrace.place_of(p_job_id uuid) returns text stable
-- function millrace.plain_options(p_options jsonb) returns boolean immutable
-- function millrace.policy_interval(p_value jsonb, p_field text) returns interval immutable
-- function millrace.position_of(p_token uuid) returns integer immutable
-- function millrace.promote_due(p_limit integer) returns integer volatile security definer
-- function millrace.promote_rows(p_job_ids uuid[]) returns integer volatile
-- function millrace.provider_depth_exceeded(p_provider_id integer, p_adding integer) returns boolean stable
-- function millrace.provider_of(p_type_id smallint) returns integer stable
-- function millrace.provider_usage(p_provider_id integer, p_at timestamp with time zone, p_minute interval, p_hour interval, OUT requests_minute bigint, OUT tokens_minute bigint, OUT oldest_minute bigint, OUT requests_hour bigint, OUT tokens_hour bigint, OUT oldest_hour bigint, OUT stale boolean) returns record stable
-- function millrace.provider_waiting(p_provider_id integer, p_max bigint) returns bigint stable
-- function millrace.put_export_jobs(p_rows jsonb) returns SETOF jsonb volatile security definer
-- function millrace.put_object(p_tenant uuid, p_upload millrace.upload, p_name text, p_sha256 bytea, p_size bigint, p_content_type text) returns millrace.storage_object volatile
-- function millrace.put_shell_file(p_row jsonb, p_conflict text, p_user uuid, p_scope uuid) returns millrace.shell_files volatile
-- function millrace.put_shell_files(p_rows jsonb, p_conflict text DEFAULT 'error'::text) returns SETOF millrace.shell_files volatile security definer
-- function millrace.queue_counts() returns TABLE(queue text, tenant_id uuid, enqueued bigint, completed bigint, failed bigint, cancelled bigint, redriven bigint, ready bigint, delayed bigint, leased bigint, live bigint) stable security definer
-- function millrace.queue_load(p_queue text DEFAULT NULL::text) returns TABLE(queue text, ready bigint, delayed bigint, leased bigint, demand bigint, oldest_age_s double precision, per_second double precision, drain_s double precision, paused boolean) volatile security definer
-- function millrace.read_duration(p_value jsonb) returns interval immutable
-- function millrace.read_events(p_xid xid8, p_seq bigint, p_late_xids xid8[], p_late_seqs bigint[], p_limit integer, p_expand boolean DEFAULT true) returns TABLE(snapshot text, too_old boolean, late boolean, xid xid8, event_id bigint, at timestamp with time zone, tenant_id uuid, kind text, queue text, job_ids uuid[], data jsonb) stable security definer
-- function millrace.read_lane(p_lane_id integer, p_limit integer, p_cutoff timestamp with time zone, p_wait boolean, p_costed boolean, p_lines boolean) returns SETOF millrace.stretch volatile
-- function millrace.read_late(p_head millrace.lane_head, p_limit integer, p_gaps boolean, p_costed boolean, p_lines boolean, OUT jobs millrace.stretch, OUT xids xid8[], OUT seqs bigint[]) returns record volatile
-- function millrace.read_limit_values(p_values jsonb, p_override boolean) returns jsonb immutable
-- function millrace.rebucket(p_provider_id integer, p_window text, p_old interval, p_new interval) returns void volatile
-- function millrace.recheck_blocked(p_limit integer) returns integer volatile security definer
-- function millrace.reclaim(p_limit integer) returns integer volatile security definer
-- function millrace.reclaim_claims(p_claim_ids uuid[], p_error_type text, p_process_death boolean, p_at_once boolean) returns uuid[] volatile
-- function millrace.reclaim_leases(p_job_ids uuid[], p_error_type text, p_process_death boolean, p_at_once boolean DEFAULT false) returns integer volatile
-- function millrace.reconcile(p_limit integer) returns jsonb volatile security definer
-- function millrace.record_moves(p_action text, p_rows millrace.moving[], p_worker_id text, p_reason text, p_from text, p_to text, p_final text, p_details jsonb DEFAULT NULL::jsonb) returns void volatile
-- function millrace.redrive_jobs(p_filter jsonb, p_limit integer DEFAULT 1000, p_per_minute integer DEFAULT NULL::integer, p_reason text DEFAULT NULL::text) returns TABLE(job_id uuid, answer text, due_at timestamp with time zone) volatile security definer
-- function millrace.redrive_one(p_job_id uuid, p_generation smallint, p_due_at timestamp with time zone, p_reason text) returns text volatile
-- function millrace.refuse_change() returns trigger volatile
-- function millrace.refuse_rewrite() returns trigger volatile
-- function millrace.refused_jobs(p_jobs jsonb[]) returns TABLE(ord integer, code text) stable
-- function millrace.register_remote_worker(p_worker_id text, p_info jsonb, p_token uuid) returns uuid volatile security definer
-- function millrace.register_worker(p_worker_id text, p_info jsonb) returns uuid volatile security definer
-- function millrace.release_api_capacity(p_provider_name text, p_api_endpoint text, p_estimated_tokens integer DEFAULT 1000, p_actual_tokens integer DEFAULT NULL::integer) returns void volatile security definer
-- function millrace.release_claims(p_rows millrace.moving[], p_from text) returns void volatile
-- function millrace.release_imports(p_source text, p_schema text, p_limit integer) returns SETOF millrace.imported_job volatile security definer
-- function millrace.release_objects() returns trigger volatile
-- function millrace.release_request(p_scope text, p_key text, p_token uuid) returns void volatile security definer
-- function millrace.remove_objects(p_bucket text, p_names text[]) returns SETOF jsonb volatile security definer
-- function millrace.rename_profile(p_profile_id uuid, p_name text) returns void volatile security definer
-- function millrace.report_progress(p_worker_id text, p_items jsonb) returns TABLE(job_id uuid, answer text, cancel_requested boolean) volatile security definer
-- function millrace.request_scope(p_scope text) returns text stable
-- function millrace.reschedule_job(p_job_id uuid, p_delay_seconds integer, p_reason text, p_add_jitter boolean DEFAULT true, p_worker_id text DEFAULT NULL::text) returns boolean volatile security definer
-- function millrace.reschedule_jobs(p_job_ids uuid[], p_due_at timestamp with time zone, p_reason text DEFAULT NULL::text) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.reserve_quota(p_tenant uuid, p_bytes bigint, p_files bigint, p_upload uuid) returns void volatile
-- function millrace.reset_breaker(p_provider_name text, p_api_endpoint text) returns void volatile security definer
-- function millrace.reset_stuck_jobs() returns integer volatile security definer
-- function millrace.resign(p_duty text, p_holder text) returns boolean volatile security definer
-- function millrace.resolve_moves(p_rows millrace.moving[], p_now timestamp with time zone) returns millrace.moving[] volatile
-- function millrace.resolve_specs(p_specs millrace.job_spec[], p_tenant uuid) returns millrace.job_fact[] volatile
-- function millrace.rest_surface() returns jsonb stable security definer
-- function millrace.restamp_lanes() returns TABLE(lanes integer, jobs bigint) volatile security definer
-- function millrace.resume_queue(p_queue text) returns void volatile security definer
-- function millrace.retention(p_what text, p_default_days integer) returns interval stable
-- function millrace.retire_worker(p_worker_id text, p_process uuid) returns integer volatile security definer
-- function millrace.revoke_api_token(p_token text, p_reason text DEFAULT NULL::text) returns uuid volatile security definer
-- function millrace.run_cron(p_limit integer) returns integer volatile security definer
-- function millrace.run_now(p_job_ids uuid[], p_reason text DEFAULT NULL::text) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.safe_file_name(p_name text) returns text immutable
-- function millrace.sample_rates() returns void volatile
-- function millrace.scale_hint(p_queue text) returns bigint stable security definer
-- function millrace.seal_audit(p_limit integer) returns integer volatile security definer
-- function millrace.seal_batch(p_batch_id uuid) returns void volatile security definer
-- function millrace.set_breaker(p_provider_id integer, p_state text, p_until timestamp with time zone, p_failures integer, p_opens integer, p_reason text) returns void volatile
-- function millrace.set_config_value(p_key text, p_value text) returns void volatile security definer
-- function millrace.set_cron(p_name text, p_schedule text, p_job jsonb, p_options jsonb DEFAULT '{}'::jsonb) returns uuid volatile security definer
-- function millrace.set_job_type(p_job_type text, p_policy jsonb DEFAULT '{}'::jsonb) returns void volatile security definer
-- function millrace.set_limit(p_provider_name text, p_api_endpoint text, p_values jsonb) returns void volatile security definer
-- function millrace.set_queue(p_queue text, p_policy jsonb DEFAULT '{}'::jsonb) returns void volatile security definer
-- function millrace.set_tenant_quota(p_tenant uuid, p_quota jsonb) returns void volatile security definer
-- function millrace.set_tenant_weight(p_tenant uuid, p_weight integer) returns void volatile security definer
-- function millrace.settle_core(p_rows millrace.moving[], p_worker_id text, p_from text DEFAULT 'leased'::text) returns void volatile
-- function millrace.settle_jobs(p_worker_id text, p_settlements jsonb) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.settle_or_raise(p_worker_id text, p_settlement jsonb) returns void volatile
-- function millrace.settle_remote(p_worker_id text, p_settlements jsonb) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.settle_slots(p_claim_ids uuid[], p_left integer[]) returns void volatile
-- function millrace.settle_tokens(p_provider_id integer, p_minute_bucket bigint, p_hour_bucket bigint, p_estimate bigint, p_actual bigint) returns void volatile
-- function millrace.settle_with_effects(p_worker_id text, p_item millrace.moving[], p_effects jsonb) returns millrace.moving[] volatile
-- function millrace.settlements_from_json(p_worker_id text, p_settlements jsonb) returns millrace.moving[] stable
-- function millrace.show_capacity(p_provider_id integer, p_at timestamp with time zone, p_granted boolean) returns void volatile
-- function millrace.source_lease(p_type_id smallint) returns interval stable
-- function millrace.spare_statistics(p_table regclass) returns void volatile
-- function millrace.spec_fields() returns TABLE(field text, wanted text) immutable
-- function millrace.specs_from_json(p_jobs jsonb) returns millrace.job_spec[] volatile
-- function millrace.spill_lane(p_lane_id integer, p_limit integer) returns integer volatile
-- function millrace.split_slots(p_rows millrace.moving[]) returns void volatile
-- function millrace.stamps_ahead() returns SETOF integer stable security definer
-- function millrace.start_file(p_file millrace.shell_files, p_correlation_id text, p_traceparent text, p_action text) returns millrace.shell_files volatile
-- function millrace.submit_compute(p_app_id text, p_definition text, p_version text, p_inputs jsonb, p_inputs_hash text, p_key bytea, p_options jsonb DEFAULT '{}'::jsonb) returns TABLE(job_id uuid, answer text) volatile security definer
-- function millrace.sweep_objects(p_limit integer) returns integer volatile security definer
-- function millrace.sweep_slots(p_provider_id integer, p_at timestamp with time zone, p_limit integer DEFAULT NULL::integer) returns integer volatile
-- function millrace.take_blob(p_tenant uuid, p_blob jsonb) returns bytea volatile
-- function millrace.take_claimed(p_worker_id text, p_job_ids uuid[], p_tokens uuid[]) returns millrace.moving[] volatile
-- function millrace.take_held(p_job_id uuid, p_worker_id text) returns millrace.moving volatile
-- function millrace.take_keys(p_specs millrace.job_spec[], p_facts millrace.job_fact[], p_existing uuid[], p_tenant uuid) returns uuid[] volatile
-- function millrace.take_leases(p_worker_id text, p_items millrace.moving[]) returns millrace.moving[] volatile
-- function millrace.take_upload(p_upload_id uuid, p_user uuid, p_writer uuid, p_for interval DEFAULT '00:01:00'::interval) returns jsonb volatile security definer
-- function millrace.tenant_of_user(p_user uuid) returns uuid stable
-- function millrace.tenant_policy(p_tenant uuid) returns TABLE(disabled boolean, requests_per_minute integer) stable security definer
-- function millrace.tenant_quota(p_tenant uuid) returns TABLE(bytes_max bigint, files_max bigint) stable
-- function millrace.tenant_scope() returns uuid stable
-- function millrace.tenant_stored(p_tenant uuid) returns TABLE(bytes bigint, files bigint, reserved_bytes bigint, reserved_files bigint) stable
-- function millrace.token_limit(p_provider_id integer) returns bigint stable
-- function millrace.touch_api_tokens(p_tokens text[]) returns integer volatile security definer
-- function millrace.turn_lock(p_queue_id smallint, p_type_id smallint, p_tenant uuid, p_priority smallint) returns bigint immutable
-- function millrace.unfold(p_job_ids uuid[]) returns void volatile
-- function millrace.unhandled_types() returns TABLE(queue text, job_type text, oldest_ready_at timestamp with time zone) volatile security definer
-- function millrace.unheld_leases(p_worker_id text, p_process uuid, p_held uuid[]) returns TABLE(job_id uuid, token uuid) stable security definer
-- function millrace.unknown_blobs(p_store_keys text[], p_sha256 bytea[]) returns TABLE(store_key text, if_stored_before timestamp with time zone) stable security definer
-- function millrace.update_export_history(p_ids uuid[], p_patch jsonb) returns SETOF millrace.export_history volatile security definer
-- function millrace.update_job_heartbeat(p_job_id uuid, p_worker_id text) returns boolean volatile security definer
-- function millrace.update_job_progress(p_job_id uuid, p_pct integer) returns boolean volatile security definer
-- function millrace.update_shell_files(p_ids uuid[], p_patch jsonb) returns SETOF millrace.shell_files volatile security definer
-- function millrace.upload_json(p_upload millrace.upload) returns jsonb stable
-- function millrace.upload_owner(p_tenant uuid, p_user uuid, p_patient uuid) returns TABLE(owner_id uuid, patient_id uuid) volatile
-- function millrace.uuid_or_null(p_text text) returns uuid immutable
-- function millrace.verify_audit(p_tenant uuid DEFAULT NULL::uuid, p_checkpoint jsonb DEFAULT NULL::jsonb) returns TABLE(tenant_id uuid, chain_seq bigint, audit_id bigint, problem text) stable security definer
-- function millrace.wake_queues(p_queue_ids smallint[]) returns void volatile
-- function millrace.with_outcome(p_row millrace.moving, p_outcome text, p_error jsonb, p_until timestamp with time zone) returns millrace.moving immutable
-- function millrace.work_at_hand() returns boolean stable security definer
-- function millrace.write_output(p_job_id uuid, p_tenant uuid, p_output jsonb) returns void volatile
-- function millrace.zone_change(p_from timestamp with time zone, p_to timestamp with time zone, p_time_zone text) returns timestamp with time zone stable
-- function millrace.zone_offset(p_at timestamp with time zone, p_time_zone text) returns interval stable
