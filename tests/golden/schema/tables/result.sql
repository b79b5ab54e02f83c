create table millrace.result (
  id uuid not null,
  job_id uuid not null,
  tenant_id uuid not null,
  outputs_json jsonb not null,
  score numeric,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.result add constraint result_job_key UNIQUE (job_id);
alter table millrace.result add constraint result_pkey PRIMARY KEY (id);
CREATE INDEX result_created_idx ON millrace.result USING btree (created_at);
