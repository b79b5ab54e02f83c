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
