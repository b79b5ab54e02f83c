create table millrace.provider_spend (
  tenant_id uuid not null,
  provider text not null,
  day date not null,
  reserved_micros bigint not null default 0,
  spent_micros bigint not null default 0,
  calls bigint not null default 0
) with (fillfactor=50);  -- row security forced
alter table millrace.provider_spend add constraint provider_spend_pkey PRIMARY KEY (tenant_id, provider, day);
