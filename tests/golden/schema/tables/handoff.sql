create table millrace.handoff (
  handoff_id bigint generated always as identity not null,
  kind text not null,
  tenant_id uuid not null,
  queue_id smallint,
  wait_key text,
  job_id uuid,
  batch_id uuid,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
alter table millrace.handoff add constraint handoff_kind_check CHECK ((kind = ANY (ARRAY['serial'::text, 'concurrency'::text, 'dependency'::text, 'batch'::text])));
alter table millrace.handoff add constraint handoff_pkey PRIMARY KEY (handoff_id);
