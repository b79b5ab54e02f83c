create table millrace.compute_job (
  tenant_id uuid not null,
  app_id text not null,
  compute_key bytea not null,
  inputs_hash text not null,
  definition text not null,
  version text not null,
  job_id uuid not null,
  asked_at timestamp with time zone not null
);  -- row security forced
alter table millrace.compute_job add constraint compute_job_hash_check CHECK ((inputs_hash ~ '^[0-9a-f]{64}$'::text));
alter table millrace.compute_job add constraint compute_job_key_check CHECK ((octet_length(compute_key) = 32));
alter table millrace.compute_job add constraint compute_job_pkey PRIMARY KEY (tenant_id, app_id, compute_key);
CREATE INDEX compute_job_asked_idx ON millrace.compute_job USING btree (asked_at);
