create table millrace.event_default partition of millrace.event (
  event_id bigint not null default nextval('millrace.event_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  kind text not null,
  queue_id smallint,
  job_ids uuid[] not null default '{}'::uuid[],
  data jsonb
);  -- row security
