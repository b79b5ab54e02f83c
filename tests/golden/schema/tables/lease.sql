create table millrace.lease (
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
  token uuid not null,
  worker_id text not null,
  process uuid,
  alone boolean not null default false,
  lease_key text,
  ready_seq bigint not null,
  leased_at timestamp with time zone not null,
  renewed_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  cancel_requested_at timestamp with time zone,
  cancel_reason text,
  progress smallint not null default 0,
  progress_message text,
  progress_data jsonb
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
alter table millrace.lease add constraint lease_pkey PRIMARY KEY (job_id);
alter table millrace.lease add constraint lease_progress_check CHECK (((progress >= 0) AND (progress <= 100)));
CREATE INDEX lease_key_idx ON millrace.lease USING btree (queue_id, tenant_id, lease_key) WHERE (lease_key IS NOT NULL);
CREATE INDEX lease_process_idx ON millrace.lease USING btree (process) WHERE (process IS NOT NULL);
CREATE INDEX lease_queue_idx ON millrace.lease USING btree (queue_id);
CREATE INDEX lease_until_idx ON millrace.lease USING btree (lease_until);
