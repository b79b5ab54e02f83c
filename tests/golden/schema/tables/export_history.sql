create table millrace.export_history (
  id uuid not null,
  tenant_id uuid not null,
  user_id uuid not null,
  document_id uuid,
  document_version integer,
  format text not null default 'pdf'::text,
  template_slug text,
  file_name text not null,
  file_path text not null,
  file_size bigint not null,
  download_count integer not null default 0,
  job_id uuid,
  batch_id uuid,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.export_history add constraint export_history_count_check CHECK ((download_count >= 0));
alter table millrace.export_history add constraint export_history_format_check CHECK ((format = 'pdf'::text));
alter table millrace.export_history add constraint export_history_job_key UNIQUE (job_id);
alter table millrace.export_history add constraint export_history_pkey PRIMARY KEY (id);
alter table millrace.export_history add constraint export_history_size_check CHECK ((file_size >= 0));
CREATE INDEX export_history_document_idx ON millrace.export_history USING btree (document_id, document_version) WHERE (document_id IS NOT NULL);
CREATE INDEX export_history_expires_idx ON millrace.export_history USING btree (expires_at);
CREATE INDEX export_history_path_idx ON millrace.export_history USING btree (tenant_id, file_path);
CREATE INDEX export_history_user_idx ON millrace.export_history USING btree (user_id, created_at DESC);
