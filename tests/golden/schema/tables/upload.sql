create table millrace.upload (
  upload_id uuid not null,
  tenant_id uuid not null,
  user_id uuid,
  kind text not null,
  bucket text not null,
  object_name text,
  replace boolean not null default false,
  patient_id uuid,
  file_name text,
  declared_type text,
  cache_control text,
  metadata jsonb,
  idempotency_key text,
  correlation_id text,
  traceparent text,
  size_bytes bigint,
  reserved_bytes bigint not null,
  offset_bytes bigint not null default 0,
  ttl interval not null,
  state text not null default 'open'::text,
  writer uuid,
  writer_until timestamp with time zone,
  sha256 bytea,
  answer jsonb,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  parts bigint not null default 0,
  pipeline text not null default 'guardian'::text
) with (fillfactor=70);  -- row security forced
alter table millrace.upload add constraint upload_done_check CHECK (((state = 'done'::text) = (answer IS NOT NULL)));
alter table millrace.upload add constraint upload_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'object'::text])));
alter table millrace.upload add constraint upload_offset_check CHECK (((offset_bytes >= 0) AND (reserved_bytes >= 0) AND ((size_bytes IS NULL) OR (offset_bytes <= size_bytes))));
alter table millrace.upload add constraint upload_pipeline_check CHECK ((pipeline ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
alter table millrace.upload add constraint upload_pkey PRIMARY KEY (upload_id);
alter table millrace.upload add constraint upload_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'aborted'::text])));
CREATE INDEX upload_expires_idx ON millrace.upload USING btree (expires_at);
CREATE INDEX upload_open_idx ON millrace.upload USING btree (tenant_id) INCLUDE (reserved_bytes, expires_at) WHERE (state = 'open'::text);
