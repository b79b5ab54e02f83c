-- millrace.park_ready: ready jobs whose key is busy leave the line until millrace.advance lets them back; they are not looked at again
-- before. Their status stays pending.
create or replace function millrace.park_ready(p_job_ids uuid[], p_keys text[], p_seqs bigint[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  with d as (
    delete from millrace.ready r using unnest(p_job_ids, p_keys, p_seqs) u(job_id, key, seq) where r.job_id = u.job_id returning r.*, u.key, u.seq),
  i as (
    insert into millrace.delayed (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
        crash_count, suspect_count, snooze_count, born_at, reason, due_at, wait_key, wait_seq, start_deadline, delayed_at)
    select d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count,
           d.crash_count, d.suspect_count, d.snooze_count, d.born_at,
           case when left(d.key, 2) = 's:' then 'serial' else 'concurrency' end::millrace.wait_reason, 'infinity', d.key, d.seq,
           d.start_deadline, millrace.now() from d)
  insert into millrace.counter_delta (queue_id, tenant_id, ready, delayed)
  select d.queue_id, d.tenant_id, -count(*), count(*) from d group by d.queue_id, d.tenant_id;
end;
$$;
