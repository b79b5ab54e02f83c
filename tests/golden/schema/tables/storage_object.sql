create table millrace.storage_object (
  object_id uuid not null,
  tenant_id uuid not null,
  bucket text not null,
  name text not null,
  owner_id uuid,
  sha256 bytea not null,
  size_bytes bigint not null,
  content_type text not null,
  cache_control text not null,
  user_metadata jsonb,
  claimed boolean not null default false,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);  -- row security forced
alter table millrace.storage_object add constraint storage_object_blob_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES millrace.blob_object(tenant_id, sha256);
alter table millrace.storage_object add constraint storage_object_bucket_fkey FOREIGN KEY (bucket) REFERENCES millrace.storage_bucket(bucket);
alter table millrace.storage_object add constraint storage_object_name_check CHECK ((((octet_length(name) >= 1) AND (octet_length(name) <= 1024)) AND (name ~ '^[A-Za-z0-9_/!.*''() &$=@;:+,?-]+$'::text) AND (name !~ '(^|/)(\.{0,2})(/|$)'::text)));
alter table millrace.storage_object add constraint storage_object_name_key UNIQUE (tenant_id, bucket, name);
alter table millrace.storage_object add constraint storage_object_pkey PRIMARY KEY (object_id);
CREATE INDEX storage_object_blob_idx ON millrace.storage_object USING btree (tenant_id, sha256);
CREATE INDEX storage_object_find_idx ON millrace.storage_object USING btree (bucket, name);
CREATE INDEX storage_object_unclaimed_idx ON millrace.storage_object USING btree (updated_at) WHERE ((bucket = 'medical-docs'::text) AND (NOT claimed));
CREATE TRIGGER storage_object_added AFTER INSERT ON millrace.storage_object REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_objects();
CREATE TRIGGER storage_object_changed AFTER UPDATE ON millrace.storage_object REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_objects();
CREATE TRIGGER storage_object_removed AFTER DELETE ON millrace.storage_object REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_objects();
