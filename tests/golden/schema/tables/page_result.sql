create table millrace.page_result (
  file_id uuid not null,
  page integer not null,
  stage text not null,
  tenant_id uuid not null,
  reuse_key bytea not null,
  sha256 bytea not null,
  size_bytes bigint not null,
  meta jsonb not null default '{}'::jsonb,
  job_id uuid,
  run integer not null,
  reused boolean not null default false,
  created_at timestamp with time zone not null,
  part_offset bigint,
  part_sha256 bytea
) with (fillfactor=80);  -- row security forced
alter table millrace.page_result add constraint page_result_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.page_result add constraint page_result_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.page_result add constraint page_result_key_check CHECK ((octet_length(reuse_key) = 32));
alter table millrace.page_result add constraint page_result_page_check CHECK (((page >= 0) AND (page <= 5000)));
alter table millrace.page_result add constraint page_result_part_check CHECK ((((part_offset IS NULL) = (part_sha256 IS NULL)) AND (part_offset >= 0) AND (octet_length(part_sha256) = 32)));
alter table millrace.page_result add constraint page_result_pkey PRIMARY KEY (file_id, page, stage);
CREATE INDEX page_result_blob_idx ON millrace.page_result USING btree (tenant_id, sha256);
CREATE INDEX page_result_reuse_idx ON millrace.page_result USING btree (tenant_id, stage, reuse_key);
CREATE TRIGGER page_result_changed AFTER UPDATE ON millrace.page_result REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
CREATE TRIGGER page_result_removed AFTER DELETE ON millrace.page_result REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
