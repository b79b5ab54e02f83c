create table millrace.tenant_usage (
  tenant_id uuid not null,
  used_bytes bigint not null default 0,
  used_files bigint not null default 0,
  piece_bytes bigint not null default 0,
  dead_bytes bigint not null default 0
) with (fillfactor=50);  -- row security forced
alter table millrace.tenant_usage add constraint tenant_usage_pkey PRIMARY KEY (tenant_id);
