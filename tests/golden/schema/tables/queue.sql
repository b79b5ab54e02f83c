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
