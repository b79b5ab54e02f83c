create table millrace.queue_slot (
  queue_id smallint not null,
  slot_no integer not null,
  job_id uuid,
  token uuid
) with (fillfactor=50);
alter table millrace.queue_slot add constraint queue_slot_pkey PRIMARY KEY (queue_id, slot_no);
alter table millrace.queue_slot add constraint queue_slot_queue_fkey FOREIGN KEY (queue_id) REFERENCES millrace.queue(queue_id) ON DELETE CASCADE;
