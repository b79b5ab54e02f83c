create table millrace.parse_request (
  file_id uuid not null,
  run integer not null,
  tenant_id uuid not null,
  job_id uuid not null,
  parser text not null,
  remote_id text,
  capability_sha256 bytea not null,
  state text not null default 'asked'::text,
  reason text,
  sha256 bytea,
  asked_at timestamp with time zone not null,
  deadline timestamp with time zone not null,
  ended_at timestamp with time zone,
  asks integer not null default 1,
  generation integer not null default 1,
  call_id uuid,
  woken boolean not null default false
) with (fillfactor=70);  -- row security forced
alter table millrace.parse_request add constraint parse_request_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.parse_request add constraint parse_request_capability_check CHECK ((octet_length(capability_sha256) = 32));
alter table millrace.parse_request add constraint parse_request_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.parse_request add constraint parse_request_pkey PRIMARY KEY (file_id, run);
alter table millrace.parse_request add constraint parse_request_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'waiting'::text, 'arrived'::text, 'failed'::text])));
CREATE INDEX parse_request_blob_idx ON millrace.parse_request USING btree (tenant_id, sha256);
CREATE UNIQUE INDEX parse_request_capability_idx ON millrace.parse_request USING btree (capability_sha256);
CREATE INDEX parse_request_job_idx ON millrace.parse_request USING btree (job_id);
CREATE TRIGGER parse_request_changed AFTER UPDATE ON millrace.parse_request REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_parse_text();
CREATE TRIGGER parse_request_removed AFTER DELETE ON millrace.parse_request REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_artifacts();
