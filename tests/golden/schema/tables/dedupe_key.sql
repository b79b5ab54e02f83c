create table millrace.dedupe_key (
  tenant_id uuid not null,
  type_id smallint not null,
  dedupe_key text not null,
  job_id uuid not null,
  keep_until timestamp with time zone
);  -- row security forced
alter table millrace.dedupe_key add constraint dedupe_key_pkey PRIMARY KEY (tenant_id, type_id, dedupe_key);
CREATE INDEX dedupe_key_keep_idx ON millrace.dedupe_key USING btree (keep_until) WHERE (keep_until IS NOT NULL);
