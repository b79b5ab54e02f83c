create table millrace.tenant (
  tenant_id uuid not null,
  name text not null,
  quota_bytes bigint,
  quota_files bigint,
  requests_per_minute integer,
  disabled_at timestamp with time zone,
  disabled_reason text,
  created_at timestamp with time zone not null,
  created_by text not null,
  updated_at timestamp with time zone not null
);  -- row security forced
alter table millrace.tenant add constraint tenant_name_check CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 200)));
alter table millrace.tenant add constraint tenant_name_key UNIQUE (name);
alter table millrace.tenant add constraint tenant_pkey PRIMARY KEY (tenant_id);
alter table millrace.tenant add constraint tenant_quota_check CHECK (((quota_bytes >= 0) AND (quota_files >= 0) AND (requests_per_minute >= 0)));
