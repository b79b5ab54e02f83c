create table millrace.export_batch_job (
  batch_id uuid not null,
  position integer not null,
  job_id uuid not null,
  tenant_id uuid not null
);  -- row security forced
alter table millrace.export_batch_job add constraint export_batch_job_pkey PRIMARY KEY (batch_id, "position");
