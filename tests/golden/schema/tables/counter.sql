create table millrace.counter (
  queue_id smallint not null,
  tenant_id uuid not null,
  enqueued bigint not null default 0,
  completed bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  redriven bigint not null default 0,
  ready bigint not null default 0,
  delayed bigint not null default 0,
  leased bigint not null default 0
) with (fillfactor=50, vacuum_truncate=false);  -- row security forced
alter table millrace.counter add constraint counter_pkey PRIMARY KEY (queue_id, tenant_id);
