create table millrace.export_reservation (
  job_id uuid not null,
  tenant_id uuid not null,
  user_id uuid not null,
  bytes bigint not null
);  -- row security forced
alter table millrace.export_reservation add constraint export_reservation_bytes_check CHECK ((bytes >= 0));
alter table millrace.export_reservation add constraint export_reservation_pkey PRIMARY KEY (job_id);
CREATE INDEX export_reservation_user_idx ON millrace.export_reservation USING btree (tenant_id, user_id);
