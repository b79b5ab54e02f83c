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
alter table millrace.worker add constraint worker_nonce_key UNIQUE (nonce);
alter table millrace.worker add constraint worker_pkey PRIMARY KEY (worker_id);
