create table millrace.message (
  msg_id bigint generated always as identity not null,
  tenant_id uuid not null,
  job_id uuid not null,
  type_id smallint not null,
  enqueued_at timestamp with time zone not null
);  -- row security forced
alter table millrace.message add constraint message_job_key UNIQUE (job_id);
alter table millrace.message add constraint message_pkey PRIMARY KEY (msg_id);
alter table millrace.message add constraint message_type_fkey FOREIGN KEY (type_id) REFERENCES millrace.job_type(type_id);
