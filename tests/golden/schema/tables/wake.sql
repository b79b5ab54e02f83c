create unlogged table millrace.wake (
  queue_id smallint not null,
  armed boolean not null
) with (vacuum_truncate=false);
alter table millrace.wake add constraint wake_pkey PRIMARY KEY (queue_id);
