create table millrace.delayed (
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
  reason millrace.wait_reason not null,
  due_at timestamp with time zone not null,
  wait_key text,
  wait_seq bigint,
  start_deadline timestamp with time zone,
  delayed_at timestamp with time zone not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
alter table millrace.delayed add constraint delayed_key_check CHECK (((reason = ANY (ARRAY['serial'::millrace.wait_reason, 'concurrency'::millrace.wait_reason])) = (wait_key IS NOT NULL)));
alter table millrace.delayed add constraint delayed_pkey PRIMARY KEY (job_id);
CREATE INDEX delayed_deadline_idx ON millrace.delayed USING btree (start_deadline) WHERE (start_deadline IS NOT NULL);
CREATE INDEX delayed_due_idx ON millrace.delayed USING btree (due_at);
CREATE INDEX delayed_key_idx ON millrace.delayed USING btree (queue_id, tenant_id, wait_key, wait_seq) WHERE (wait_key IS NOT NULL);
CREATE INDEX delayed_type_idx ON millrace.delayed USING btree (type_id);
