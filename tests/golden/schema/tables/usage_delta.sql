create table millrace.usage_delta (
  delta_id bigint generated always as identity not null,
  tenant_id uuid not null,
  bytes bigint not null,
  files bigint not null,
  piece_bytes bigint not null default 0,
  dead_bytes bigint not null default 0
);  -- row security forced
alter table millrace.usage_delta add constraint usage_delta_pkey PRIMARY KEY (delta_id);
CREATE INDEX usage_delta_tenant_idx ON millrace.usage_delta USING btree (tenant_id);
