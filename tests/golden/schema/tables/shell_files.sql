create table millrace.shell_files (
  id uuid not null,
  tenant_id uuid not null,
  owner_id uuid not null,
  patient_id uuid not null,
  bucket text not null default 'medical-docs'::text,
  storage_path text not null,
  file_name text not null,
  content_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  idempotency_key text,
  status text not null default 'uploaded'::text,
  processing_error jsonb,
  job_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  pipeline text not null default 'guardian'::text
);  -- row security forced
alter table millrace.shell_files add constraint shell_files_idempotency_key UNIQUE (tenant_id, owner_id, idempotency_key);
alter table millrace.shell_files add constraint shell_files_key_check CHECK (((octet_length(idempotency_key) >= 1) AND (octet_length(idempotency_key) <= 1024)));
alter table millrace.shell_files add constraint shell_files_name_check CHECK (((octet_length(file_name) >= 1) AND (octet_length(file_name) <= 1024)));
alter table millrace.shell_files add constraint shell_files_patient_fkey FOREIGN KEY (patient_id) REFERENCES millrace.user_profiles(id) ON DELETE CASCADE;
alter table millrace.shell_files add constraint shell_files_pipeline_check CHECK ((pipeline ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
alter table millrace.shell_files add constraint shell_files_pkey PRIMARY KEY (id);
alter table millrace.shell_files add constraint shell_files_status_check CHECK ((status = ANY (ARRAY['uploaded'::text, 'processing'::text, 'completed'::text, 'partial'::text, 'failed'::text, 'rejected'::text])));
CREATE INDEX shell_files_owner_idx ON millrace.shell_files USING btree (tenant_id, owner_id, id);
CREATE INDEX shell_files_path_idx ON millrace.shell_files USING btree (tenant_id, bucket, storage_path);
CREATE INDEX shell_files_patient_idx ON millrace.shell_files USING btree (patient_id, id);
CREATE INDEX shell_files_waiting_idx ON millrace.shell_files USING btree (created_at) WHERE (job_id IS NULL);
CREATE TRIGGER shell_files_removed AFTER DELETE ON millrace.shell_files REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.release_objects();
