create table millrace.page (
  file_id uuid not null,
  page integer not null,
  tenant_id uuid not null,
  content_sha256 bytea not null,
  width_pt double precision,
  height_pt double precision,
  rotation_deg integer not null default 0,
  text_chars integer not null default 0,
  state text not null default 'pending'::text,
  failed_stage text,
  failed_reason text
) with (fillfactor=80);  -- row security forced
alter table millrace.page add constraint page_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.page add constraint page_failed_check CHECK (((state = 'failed'::text) = (failed_stage IS NOT NULL)));
alter table millrace.page add constraint page_number_check CHECK (((page >= 1) AND (page <= 5000)));
alter table millrace.page add constraint page_pkey PRIMARY KEY (file_id, page);
alter table millrace.page add constraint page_sha256_check CHECK ((octet_length(content_sha256) = 32));
alter table millrace.page add constraint page_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text])));
CREATE INDEX page_content_idx ON millrace.page USING btree (tenant_id, content_sha256);
