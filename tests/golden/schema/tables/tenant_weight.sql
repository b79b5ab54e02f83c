create table millrace.tenant_weight (
  tenant_id uuid not null,
  weight integer not null
);  -- row security forced
alter table millrace.tenant_weight add constraint tenant_weight_check CHECK (((weight >= 1) AND (weight <= 1000)));
alter table millrace.tenant_weight add constraint tenant_weight_pkey PRIMARY KEY (tenant_id);
