create table millrace.upload_part (
  upload_id uuid not null,
  offset_bytes bigint not null,
  tenant_id uuid not null,
  size_bytes bigint not null,
  handle text not null,
  created_at timestamp with time zone not null,
  sweep_at timestamp with time zone
);  -- row security forced
alter table millrace.upload_part add constraint upload_part_handle_check CHECK (((octet_length(handle) >= 1) AND (octet_length(handle) <= 1024)));
alter table millrace.upload_part add constraint upload_part_pkey PRIMARY KEY (upload_id, offset_bytes);
alter table millrace.upload_part add constraint upload_part_size_check CHECK ((size_bytes > 0));
CREATE INDEX upload_part_handle_idx ON millrace.upload_part USING btree (handle);
CREATE TRIGGER upload_part_added AFTER INSERT ON millrace.upload_part REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_parts();
CREATE TRIGGER upload_part_removed AFTER DELETE ON millrace.upload_part REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.count_parts();
