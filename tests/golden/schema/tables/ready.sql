create table millrace.ready (
  ready_seq bigint not null default nextval('millrace.ready_seq'::regclass),
  job_id uuid not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null,
  generation smallint not null,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  suspect_count smallint not null,
  snooze_count integer not null,
  born_at timestamp with time zone not null,
  ready_at timestamp with time zone not null,
  start_deadline timestamp with time zone
) with (fillfactor=100, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=50000, vacuum_truncate=false);  -- row security forced
alter table millrace.ready add constraint ready_pkey PRIMARY KEY (job_id);
CREATE INDEX ready_claim_idx ON millrace.ready USING btree (queue_id, type_id, tenant_id, priority, ready_seq);
CREATE INDEX ready_deadline_idx ON millrace.ready USING btree (start_deadline) WHERE (start_deadline IS NOT NULL);
CREATE INDEX ready_suspect_idx ON millrace.ready USING btree (queue_id, ready_seq) WHERE (suspect_count >= 3);
