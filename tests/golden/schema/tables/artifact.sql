create table millrace.artifact (
  id uuid not null,
  job_id uuid not null,
  tenant_id uuid not null,
  kind text not null,
  file_name text,
  sha256 bytea not null,
  size_bytes bigint not null,
  content_type text not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.artifact add constraint artifact_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.artifact add constraint artifact_kind_check CHECK ((kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}$'::text));
alter table millrace.artifact add constraint artifact_pkey PRIMARY KEY (id);
CREATE INDEX artifact_blob_idx ON millrace.artifact USING btree (tenant_id, sha256);
CREATE INDEX artifact_created_idx ON millrace.artifact USING btree (created_at);
CREATE INDEX artifact_expires_idx ON millrace.artifact USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX artifact_job_idx ON millrace.artifact USING btree (job_id);
CREATE TRIGGER artifact_removed AFTER DELETE ON millrace.artifact REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
