-- Policy tables: queues, job types, configuration, tenants. Everything here is small, read often and
-- changed by operators while the engine runs.
-- Lock cost: new tables only. compat: rolling

create type millrace.job_status as enum
  ('pending', 'processing', 'completed', 'failed', 'cancelled', 'retrying', 'deferred');

-- Why a job waits in millrace.delayed. 'scheduled' is due later, 'retrying' had a failed attempt,
-- 'deferred' is parked for an event or an operator, the rest wait for other jobs.
create type millrace.wait_reason as enum
  ('scheduled', 'retrying', 'deferred', 'serial', 'concurrency', 'dependency');

create table millrace.queue (
  queue_id            smallint generated always as identity primary key,
  queue               text not null,
  max_attempts        smallint not null default 12,
  backoff_base        interval not null default interval '15 seconds',
  backoff_factor      numeric not null default 2,
  backoff_cap         interval not null default interval '1 hour',
  -- The delay is multiplied by a number drawn uniformly from [jitter_low, jitter_high], per row.
  jitter_low          numeric not null default 1,
  jitter_high         numeric not null default 2,
  lease               interval not null default interval '30 seconds',
  beat                interval not null default interval '10 seconds',
  run_timeout         interval not null default interval '300 seconds',
  reclaim_jitter      interval not null default interval '500 milliseconds',
  -- Snoozes (throttling, backpressure) charge no attempt; these two bound them instead.
  max_age             interval not null default interval '24 hours',
  max_snoozes         integer not null default 10000,
  concurrency_max     integer,
  key_concurrency_max integer,
  depth_max           bigint not null default 50000000,
  priority_default    smallint not null default 5,
  -- Waiting this long raises the effective priority by one; null switches ageing off.
  age_step            interval default interval '30 seconds',
  paused_at           timestamptz,
  paused_reason       text,
  paused_by           text,
  created_at          timestamptz not null default clock_timestamp(),
  updated_at          timestamptz not null default clock_timestamp(),
  constraint queue_name_key unique (queue),
  constraint queue_name_check check (queue ~ '^[a-z0-9][a-z0-9_.:-]{0,62}$'),
  constraint queue_max_attempts_check check (max_attempts between 1 and 1000),
  constraint queue_backoff_base_check check (backoff_base >= interval '0'),
  constraint queue_backoff_factor_check check (backoff_factor between 1 and 100),
  constraint queue_backoff_cap_check check (backoff_cap >= backoff_base and backoff_cap <= interval '7 days'),
  constraint queue_jitter_check check (jitter_low >= 0 and jitter_high >= jitter_low and jitter_high <= 10),
  constraint queue_lease_check check (lease between interval '1 second' and interval '1 day'),
  constraint queue_beat_check check (beat > interval '0' and beat < lease),
  constraint queue_run_timeout_check check (run_timeout between interval '10 milliseconds' and interval '7 days'),
  constraint queue_reclaim_jitter_check check (reclaim_jitter between interval '0' and interval '1 hour'),
  constraint queue_max_age_check check (max_age > interval '0'),
  constraint queue_max_snoozes_check check (max_snoozes > 0),
  constraint queue_concurrency_max_check check (concurrency_max between 0 and 100000),
  constraint queue_key_concurrency_max_check check (key_concurrency_max between 1 and 100000),
  constraint queue_depth_max_check check (depth_max >= 0),
  constraint queue_priority_default_check check (priority_default between 0 and 1000),
  constraint queue_age_step_check check (age_step >= interval '1 millisecond')
);

create table millrace.job_type (
  type_id          smallint generated always as identity primary key,
  job_type         text not null,
  queue_id         smallint not null,
  required_keys    text[] not null default '{}',
  required_message text,
  provider_name    text,
  api_endpoint     text,
  priority_default smallint,
  run_timeout      interval,
  max_attempts     smallint,
  enabled          boolean not null default true,
  created_at       timestamptz not null default clock_timestamp(),
  updated_at       timestamptz not null default clock_timestamp(),
  constraint job_type_name_key unique (job_type),
  constraint job_type_name_check check (job_type ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,126}$'),
  constraint job_type_queue_fkey foreign key (queue_id) references millrace.queue (queue_id),
  constraint job_type_provider_check check ((provider_name is null) = (api_endpoint is null)),
  constraint job_type_priority_check check (priority_default between 0 and 1000),
  constraint job_type_max_attempts_check check (max_attempts between 1 and 1000),
  constraint job_type_run_timeout_check check (run_timeout between interval '10 milliseconds' and interval '7 days')
);

-- Weight of a tenant in the fair share of a queue; a tenant without a row has weight 1.
create table millrace.tenant_weight (
  tenant_id uuid primary key,
  weight    integer not null,
  constraint tenant_weight_check check (weight between 1 and 1000)
);

create table millrace.system_configuration (
  config_key   text primary key,
  config_value text not null,
  config_type  text not null default 'system',
  description  text,
  is_sensitive boolean not null default false,
  updated_at   timestamptz not null default clock_timestamp()
);
