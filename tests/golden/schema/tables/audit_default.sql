create table millrace.audit_default partition of millrace.audit (
  audit_id bigint not null default nextval('millrace.audit_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  actor text not null,
  worker_id text,
  table_name text not null,
  record_id text,
  operation text not null,
  action text not null,
  job_ids uuid[] not null default '{}'::uuid[],
  old_values jsonb,
  new_values jsonb,
  reason text,
  category text not null default 'system'::text,
  patient_id uuid
);  -- row security
