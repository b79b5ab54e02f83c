create table millrace.job_log_default partition of millrace.job_log (
  job_id uuid not null,
  log_seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  delivery_count integer not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null
);  -- row security
