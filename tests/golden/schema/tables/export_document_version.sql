create table millrace.export_document_version (
  document_id uuid not null,
  version integer not null,
  tenant_id uuid not null,
  title text not null,
  template_slug text not null,
  data jsonb not null,
  content_sha256 bytea not null,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.export_document_version add constraint export_document_version_document_fkey FOREIGN KEY (document_id) REFERENCES millrace.export_document(document_id) ON DELETE CASCADE;
alter table millrace.export_document_version add constraint export_document_version_hash_check CHECK ((octet_length(content_sha256) = 32));
alter table millrace.export_document_version add constraint export_document_version_pkey PRIMARY KEY (document_id, version);
alter table millrace.export_document_version add constraint export_document_version_template_check CHECK ((template_slug ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
alter table millrace.export_document_version add constraint export_document_version_title_check CHECK (((octet_length(title) >= 1) AND (octet_length(title) <= 512)));
