create table millrace.quarantine (
  tenant_id uuid not null,
  sha256 bytea not null,
  what text not null,
  stage text not null,
  reason text not null,
  file_id uuid,
  page integer,
  quarantined_at timestamp with time zone not null,
  released_at timestamp with time zone,
  released_by text
);  -- row security forced
alter table millrace.quarantine add constraint quarantine_pkey PRIMARY KEY (tenant_id, sha256);
alter table millrace.quarantine add constraint quarantine_what_check CHECK ((what = ANY (ARRAY['file'::text, 'page'::text])));
