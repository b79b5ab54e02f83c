create table millrace.document (
  file_id uuid not null,
  tenant_id uuid not null,
  pipeline_hash bytea not null,
  run integer not null default 1,
  state text not null default 'processing'::text,
  stage text,
  kind text,
  mime text,
  findings jsonb not null default '[]'::jsonb,
  summary jsonb not null default '{}'::jsonb,
  page_count integer,
  job_id uuid,
  batch_id uuid,
  started_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  stage_total integer,
  stage_done integer
) with (fillfactor=70);  -- row security forced
alter table millrace.document add constraint document_file_fkey FOREIGN KEY (file_id) REFERENCES millrace.shell_files(id) ON DELETE CASCADE;
alter table millrace.document add constraint document_finished_check CHECK (((state = 'processing'::text) = (finished_at IS NULL)));
alter table millrace.document add constraint document_pipeline_fkey FOREIGN KEY (pipeline_hash) REFERENCES millrace.pipeline_version(hash);
alter table millrace.document add constraint document_pkey PRIMARY KEY (file_id);
alter table millrace.document add constraint document_state_check CHECK ((state = ANY (ARRAY['processing'::text, 'completed'::text, 'partial'::text, 'failed'::text, 'rejected'::text])));
CREATE INDEX document_live_idx ON millrace.document USING btree (updated_at) WHERE (state = 'processing'::text);
CREATE INDEX document_tenant_idx ON millrace.document USING btree (tenant_id, file_id);
