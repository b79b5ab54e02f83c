create table millrace.orphan_note (
  note_id bigint generated always as identity not null,
  tenant_id uuid not null,
  sha256 bytea not null,
  noted_at timestamp with time zone not null,
  size_bytes bigint not null default 0
);  -- row security forced
alter table millrace.orphan_note add constraint orphan_note_pkey PRIMARY KEY (note_id);
CREATE INDEX orphan_note_content_idx ON millrace.orphan_note USING btree (tenant_id, sha256);
CREATE INDEX orphan_note_noted_idx ON millrace.orphan_note USING btree (noted_at);
