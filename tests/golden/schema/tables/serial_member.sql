create table millrace.serial_member (
  tenant_id uuid not null,
  queue_id smallint not null,
  serial_key text not null,
  seq bigint not null,
  job_id uuid not null
) with (vacuum_truncate=false);  -- row security forced
alter table millrace.serial_member add constraint serial_member_pkey PRIMARY KEY (tenant_id, queue_id, serial_key, seq);
CREATE INDEX serial_member_job_idx ON millrace.serial_member USING btree (job_id);
