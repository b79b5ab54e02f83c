create table millrace.document_output (
  file_id uuid not null,
  kind text not null,
  page integer not null default 0,
  tenant_id uuid not null,
  file_name text not null,
  content_type text not null,
  sha256 bytea not null,
  size_bytes bigint not null,
  job_id uuid,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.document_output add constraint document_output_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.document_output add constraint document_output_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.document_output add constraint document_output_kind_check CHECK ((kind ~ '^[a-z][a-z0-9_]{0,31}$'::text));
alter table millrace.document_output add constraint document_output_pkey PRIMARY KEY (file_id, kind, page);
CREATE INDEX document_output_blob_idx ON millrace.document_output USING btree (tenant_id, sha256);
CREATE TRIGGER document_output_changed AFTER UPDATE ON millrace.document_output REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
CREATE TRIGGER document_output_removed AFTER DELETE ON millrace.document_output REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
