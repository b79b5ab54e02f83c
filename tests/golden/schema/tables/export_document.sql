create table millrace.export_document (
  document_id uuid not null,
  tenant_id uuid not null,
  user_id uuid not null,
  version integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
) with (fillfactor=80);  -- row security forced
alter table millrace.export_document add constraint export_document_pkey PRIMARY KEY (document_id);
alter table millrace.export_document add constraint export_document_version_check CHECK ((version >= 1));
CREATE INDEX export_document_user_idx ON millrace.export_document USING btree (tenant_id, user_id, document_id);
