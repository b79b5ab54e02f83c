create table millrace.export_reservation (
  job_id uuid not null,
  tenant_id uuid not null,
  user_id uuid not null,
  bytes bigint not null,
  document_id uuid,
  document_version integer,
  file_path text
);  -- row security forced
alter table millrace.export_reservation add constraint export_reservation_bytes_check CHECK ((bytes >= 0));
alter table millrace.export_reservation add constraint export_reservation_pkey PRIMARY KEY (job_id);
CREATE INDEX export_reservation_document_idx ON millrace.export_reservation USING btree (document_id, document_version) WHERE (document_id IS NOT NULL);
CREATE INDEX export_reservation_user_idx ON millrace.export_reservation USING btree (tenant_id, user_id);
