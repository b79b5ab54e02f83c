create table millrace.event (
  event_id bigint not null default nextval('millrace.event_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  kind text not null,
  queue_id smallint,
  job_ids uuid[] not null default '{}'::uuid[],
  data jsonb
) partition by RANGE (at);  -- row security forced
alter table millrace.event add constraint event_pkey PRIMARY KEY (at, event_id);
CREATE INDEX event_xid_idx ON ONLY millrace.event USING btree (xid, event_id);
