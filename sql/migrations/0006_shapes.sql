-- Row shapes that the engine's own functions pass to each other.
-- Lock cost: none. compat: rolling

-- One job to enqueue, as read from JSON, an array call or the COPY intake.
create type millrace.job_spec as (
  ord             integer,
  id              uuid,
  job_type        text,
  queue           text,
  payload         jsonb,
  job_name        text,
  job_category    text,
  owner_id        uuid,
  priority        integer,
  scheduled_at    timestamptz,
  dedupe_key      text,
  dedupe_keep     interval,
  serial_key      text,
  concurrency_key text,
  idempotency_key text,
  request_hash    bytea,
  correlation_id  text,
  traceparent     text,
  pipeline        text,
  stage           text,
  batch_id        uuid,
  parent_id       uuid,
  after_jobs      uuid[],
  after_mode      text,
  after_failure   text,
  max_attempts    integer,
  run_timeout     interval,
  start_deadline  timestamptz
);

-- One job on its way from one place to the next.
create type millrace.moving as (
  job_id         uuid,
  tenant_id      uuid,
  queue_id       smallint,
  type_id        smallint,
  priority       smallint,
  flags          smallint,
  generation     smallint,
  attempt        smallint,
  delivery_count integer,
  crash_count    smallint,
  suspect_count  smallint,
  snooze_count   integer,
  born_at        timestamptz,
  start_deadline timestamptz,
  -- Where it came from: the lease it had, if any.
  token          uuid,
  worker_id      text,
  started_at     timestamptz,
  lease_key      text,
  ready_seq      bigint,
  progress       smallint,
  progress_data  jsonb,
  cancel_reason  text,
  -- What happened.
  outcome        text,
  charged        boolean,
  result         jsonb,
  error          jsonb,
  carry          jsonb,
  actual_tokens  bigint,
  until_at       timestamptz,
  -- Where it goes: a final status, or a wait.
  final_status   millrace.job_status,
  final_reason   text,
  wait_reason    millrace.wait_reason,
  due_at         timestamptz
);

-- A serial or concurrency key that a finished job gives up.
create type millrace.held_key as (
  tenant_id uuid,
  queue_id  smallint,
  wait_key  text
);
