-- Messages in the words of pgmq (X-29): what its clients know a message by is a number, ours a job by its id. One row while the message is there.
-- Lock cost: a new table only. compat: rolling

create table millrace.message (
  msg_id      bigint generated always as identity,
  tenant_id   uuid not null,
  job_id      uuid not null,
  type_id     smallint not null,
  enqueued_at timestamptz not null,
  constraint message_pkey primary key (msg_id),
  constraint message_job_key unique (job_id),
  constraint message_type_fkey foreign key (type_id) references millrace.job_type (type_id)
);

-- As pgmq.read answers.
create type millrace.message_record as (
  msg_id      bigint,
  read_ct     integer,
  enqueued_at timestamptz,
  vt          timestamptz,
  message     jsonb
);
