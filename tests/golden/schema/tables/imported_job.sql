create table millrace.imported_job (
  source text not null,
  source_schema text not null,
  source_type text not null,
  source_id text not null,
  source_created_at timestamp with time zone not null,
  tenant_id uuid not null,
  job_id uuid not null,
  deleted boolean not null,
  source_row jsonb not null,
  imported_at timestamp with time zone not null
);  -- row security forced
alter table millrace.imported_job add constraint imported_job_pkey PRIMARY KEY (source, source_schema, source_type, source_id, source_created_at);
alter table millrace.imported_job add constraint imported_job_source_check CHECK ((source = ANY (ARRAY['guardian'::text, 'export'::text, 'baseworker'::text, 'pg-boss'::text, 'graphile-worker'::text])));
CREATE INDEX imported_job_job_idx ON millrace.imported_job USING btree (job_id);
