create table millrace.blob_object (
  tenant_id uuid not null,
  sha256 bytea not null,
  size_bytes bigint not null,
  content_type text not null,
  store_key text not null,
  created_at timestamp with time zone not null,
  condemned_at timestamp with time zone
);  -- row security forced
alter table millrace.blob_object add constraint blob_object_pkey PRIMARY KEY (tenant_id, sha256);
alter table millrace.blob_object add constraint blob_object_sha256_check CHECK ((octet_length(sha256) = 32));
alter table millrace.blob_object add constraint blob_object_size_check CHECK ((size_bytes >= 0));
CREATE INDEX blob_object_condemned_idx ON millrace.blob_object USING btree (condemned_at) WHERE (condemned_at IS NOT NULL);
CREATE INDEX blob_object_dead_idx ON millrace.blob_object USING btree (tenant_id) INCLUDE (size_bytes) WHERE (condemned_at IS NOT NULL);
CREATE INDEX blob_object_sha256_idx ON millrace.blob_object USING btree (sha256);
CREATE INDEX blob_object_store_key_idx ON millrace.blob_object USING btree (store_key);
