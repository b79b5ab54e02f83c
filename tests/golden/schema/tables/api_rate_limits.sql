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
alter table millrace.api_rate_limits add constraint api_rate_limits_breaker_check CHECK ((breaker_state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text])));
alter table millrace.api_rate_limits add constraint api_rate_limits_id_key UNIQUE (id);
alter table millrace.api_rate_limits add constraint api_rate_limits_name_key UNIQUE (provider_name, api_endpoint);
alter table millrace.api_rate_limits add constraint api_rate_limits_pkey PRIMARY KEY (provider_id);
alter table millrace.api_rate_limits add constraint api_rate_limits_positive_check CHECK (((requests_per_minute >= 0) AND (requests_per_hour >= 0) AND (tokens_per_minute >= 0) AND (tokens_per_hour >= 0) AND (concurrent_requests >= 0)));
alter table millrace.api_rate_limits add constraint api_rate_limits_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text, 'maintenance'::text])));
alter table millrace.api_rate_limits add constraint api_rate_limits_window_check CHECK (((minute_window >= '00:00:01'::interval) AND (hour_window >= minute_window)));
