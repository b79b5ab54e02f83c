create table millrace.job_log (
  job_id uuid not null,
  log_seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  delivery_count integer not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null
) partition by RANGE (job_id);  -- row security forced
alter table millrace.job_log add constraint job_log_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text])));
alter table millrace.job_log add constraint job_log_pkey PRIMARY KEY (job_id, log_seq);
