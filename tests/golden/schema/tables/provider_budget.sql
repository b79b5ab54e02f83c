create table millrace.provider_budget (
  tenant_id uuid not null,
  provider text not null,
  micros_per_day bigint not null,
  updated_at timestamp with time zone not null
);  -- row security forced
alter table millrace.provider_budget add constraint provider_budget_amount_check CHECK ((micros_per_day >= 0));
alter table millrace.provider_budget add constraint provider_budget_pkey PRIMARY KEY (tenant_id, provider);
