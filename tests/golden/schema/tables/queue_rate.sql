create table millrace.queue_rate (
  queue_id smallint not null,
  sampled_at timestamp with time zone not null,
  ended bigint not null,
  per_second double precision not null
) with (fillfactor=50);
alter table millrace.queue_rate add constraint queue_rate_pkey PRIMARY KEY (queue_id);
alter table millrace.queue_rate add constraint queue_rate_queue_fkey FOREIGN KEY (queue_id) REFERENCES millrace.queue(queue_id) ON DELETE CASCADE;
