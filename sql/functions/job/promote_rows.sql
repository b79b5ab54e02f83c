-- millrace.promote_rows: moves delayed jobs, locked by the caller, to the end of the line in ready.
create or replace function millrace.promote_rows(p_job_ids uuid[]) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues smallint[];
  v_count integer;
begin
  with d as (
    delete from millrace.delayed r where r.job_id = any (p_job_ids) returning r.*),
  i as (
    insert into millrace.ready (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count, crash_count, suspect_count,
        snooze_count, born_at, ready_at, start_deadline)
    select d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count, d.crash_count, d.suspect_count,
           d.snooze_count,
           -- The age budget counts from the first time the job could run.
           case when d.delivery_count = 0 then millrace.now() else d.born_at end, millrace.now(), d.start_deadline
      from d order by d.wait_seq nulls first, d.due_at, d.job_id),
  c as (
    insert into millrace.counter_delta (queue_id, tenant_id, ready, delayed)
    select d.queue_id, d.tenant_id, count(*), -count(*) from d group by d.queue_id, d.tenant_id)
  select array_agg(distinct d.queue_id), count(*) into v_queues, v_count from d;
  if v_count > 0 then
    perform millrace.wake_queues(v_queues);
  end if;
  return v_count;
end;
$$;
