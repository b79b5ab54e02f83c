create table millrace.export_usage (
  tenant_id uuid not null,
  user_id uuid not null,
  day date not null,
  operations integer not null
) with (fillfactor=80);  -- row security forced
alter table millrace.export_usage add constraint export_usage_operations_check CHECK ((operations >= 0));
alter table millrace.export_usage add constraint export_usage_pkey PRIMARY KEY (tenant_id, user_id);
