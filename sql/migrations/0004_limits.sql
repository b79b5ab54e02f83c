-- Provider limits. The row of a provider is its lock; what was granted lies in sub-buckets of the two windows, who holds a
-- concurrent request in slots with a lease. The current_* columns are for people; grants are decided by
-- buckets and slots alone.
-- Lock cost: new tables only. compat: rolling

create table millrace.api_rate_limits (
  id                         uuid not null default gen_random_uuid(),
  provider_id                integer generated always as identity,
  provider_name              text not null,
  api_endpoint               text not null,
  requests_per_minute        integer default 60,
  requests_per_hour          integer,
  tokens_per_minute          bigint,
  tokens_per_hour            bigint,
  concurrent_requests        integer default 10,
  current_requests_minute    bigint not null default 0,
  current_requests_hour      bigint not null default 0,
  current_tokens_minute      bigint not null default 0,
  current_tokens_hour        bigint not null default 0,
  active_requests            integer not null default 0,
  minute_reset_at            timestamptz not null default clock_timestamp(),
  hour_reset_at              timestamptz not null default clock_timestamp(),
  -- Lengths of the two windows; other than 60 s and 3600 s only where a provider counts differently.
  minute_window              interval not null default interval '60 seconds',
  hour_window                interval not null default interval '3600 seconds',
  slot_lease                 interval not null default interval '300 seconds',
  backpressure_threshold     numeric(3,2) not null default 0.8,
  backpressure_delay_seconds integer not null default 5,
  queue_depth_limit          integer default 1000,
  status                     text not null default 'active',
  last_rate_limit_hit        timestamptz,
  rate_limit_violations      bigint not null default 0,
  last_grant_at              timestamptz,
  -- Circuit breaker: closed, open until breaker_until, then half_open with one probe at a time.
  breaker_state              text not null default 'closed',
  breaker_until              timestamptz,
  breaker_failures           integer not null default 0,
  breaker_threshold          integer not null default 5,
  breaker_cooldown           interval not null default interval '30 seconds',
  breaker_opens              integer not null default 0,
  breaker_reason             text,
  -- The provider asked us to wait until then (429 with Retry-After).
  throttled_until            timestamptz,
  created_at                 timestamptz not null default clock_timestamp(),
  updated_at                 timestamptz not null default clock_timestamp(),
  constraint api_rate_limits_pkey primary key (provider_id),
  constraint api_rate_limits_id_key unique (id),
  constraint api_rate_limits_name_key unique (provider_name, api_endpoint),
  constraint api_rate_limits_status_check check (status in ('active', 'disabled', 'maintenance')),
  constraint api_rate_limits_positive_check check (requests_per_minute >= 0 and requests_per_hour >= 0
    and tokens_per_minute >= 0 and tokens_per_hour >= 0 and concurrent_requests >= 0),
  constraint api_rate_limits_window_check check (minute_window >= interval '1 second' and hour_window >= minute_window),
  constraint api_rate_limits_breaker_check check (breaker_state in ('closed', 'open', 'half_open'))
) with (fillfactor = 50);

-- Operator values: a null column leaves the configured value, -1 means unlimited. Deploys never write here.
create table millrace.api_rate_limit_override (
  provider_name       text not null,
  api_endpoint        text not null,
  requests_per_minute integer,
  requests_per_hour   integer,
  tokens_per_minute   bigint,
  tokens_per_hour     bigint,
  concurrent_requests integer,
  status              text,
  reason              text not null,
  set_by              text not null,
  set_at              timestamptz not null default clock_timestamp(),
  expires_at          timestamptz,
  constraint api_rate_limit_override_pkey primary key (provider_name, api_endpoint),
  constraint api_rate_limit_override_limit_fkey foreign key (provider_name, api_endpoint)
    references millrace.api_rate_limits (provider_name, api_endpoint) on update cascade on delete cascade,
  constraint api_rate_limit_override_status_check check (status in ('active', 'disabled', 'maintenance'))
);

-- Granted requests and tokens per sub-bucket: 60 buckets make a window, a grant looks at 61.
create table millrace.provider_bucket (
  provider_id integer not null,
  time_window text not null,
  bucket      bigint not null,
  requests    bigint not null,
  tokens      bigint not null,
  constraint provider_bucket_pkey primary key (provider_id, time_window, bucket),
  constraint provider_bucket_limit_fkey foreign key (provider_id) references millrace.api_rate_limits (provider_id) on delete cascade,
  constraint provider_bucket_window_check check (time_window in ('minute', 'hour')),
  constraint provider_bucket_count_check check (requests >= 0 and tokens >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A concurrent request. Bound to a job it lives as long as that job's lease (same token); otherwise until lease_until.
create table millrace.provider_slot (
  slot_id          bigint generated always as identity,
  provider_id      integer not null,
  job_id           uuid,
  token            uuid,
  worker_id        text,
  acquired_at      timestamptz not null,
  lease_until      timestamptz not null,
  estimated_tokens bigint not null,
  minute_bucket    bigint not null,
  hour_bucket      bigint not null,
  constraint provider_slot_pkey primary key (slot_id),
  constraint provider_slot_limit_fkey foreign key (provider_id) references millrace.api_rate_limits (provider_id) on delete cascade,
  constraint provider_slot_cost_check check (estimated_tokens > 0)
) with (fillfactor = 70);
create index provider_slot_provider_idx on millrace.provider_slot (provider_id, acquired_at);
create index provider_slot_job_idx on millrace.provider_slot (job_id) where job_id is not null;
