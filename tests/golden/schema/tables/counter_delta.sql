create table millrace.counter_delta (
  delta_id bigint generated always as identity not null,
  queue_id smallint not null,
  tenant_id uuid not null,
  enqueued integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  redriven integer not null default 0,
  ready integer not null default 0,
  delayed integer not null default 0,
  leased integer not null default 0
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
alter table millrace.counter_delta add constraint counter_delta_pkey PRIMARY KEY (delta_id);
CREATE INDEX counter_delta_idx ON millrace.counter_delta USING btree (queue_id, tenant_id);
