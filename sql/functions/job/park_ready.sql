-- millrace.park_ready: a ready job whose key is busy leaves the line until millrace.advance lets it back; it is not looked at again
-- before. Its status stays pending.
create or replace function millrace.park_ready(p_job_id uuid, p_key text, p_seq bigint) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  with d as (
    delete from millrace.ready r where r.job_id = p_job_id returning r.*),
  i as (
    insert into millrace.delayed (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
        crash_count, suspect_count, snooze_count, born_at, reason, due_at, wait_key, wait_seq, start_deadline, delayed_at)
    select d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count,
           d.crash_count, d.suspect_count, d.snooze_count, d.born_at,
           case when left(p_key, 2) = 's:' then 'serial' else 'concurrency' end::millrace.wait_reason, 'infinity', p_key, p_seq,
           d.start_deadline, millrace.now() from d)
  insert into millrace.counter_delta (queue_id, tenant_id, ready, delayed) select d.queue_id, d.tenant_id, -1, 1 from d;
end;
$$;
