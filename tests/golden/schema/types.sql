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
create type millrace.message_record as (
  msg_id bigint,
  read_ct integer,
  enqueued_at timestamp with time zone,
  vt timestamp with time zone,
  message jsonb
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
create sequence millrace.api_rate_limits_provider_id_seq as integer;
create sequence millrace.audit_seq as bigint;
create sequence millrace.counter_delta_delta_id_seq as bigint;
create sequence millrace.event_seq as bigint;
create sequence millrace.handoff_handoff_id_seq as bigint;
create sequence millrace.job_seq as bigint;
create sequence millrace.job_type_type_id_seq as smallint;
create sequence millrace.lane_lane_id_seq as integer;
create sequence millrace.message_msg_id_seq as bigint;
create sequence millrace.orphan_note_note_id_seq as bigint;
create sequence millrace.provider_slot_slot_id_seq as bigint;
create sequence millrace.queue_queue_id_seq as smallint;
create sequence millrace.ready_seq as bigint;
create sequence millrace.usage_delta_delta_id_seq as bigint;
