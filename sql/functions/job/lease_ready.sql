-- millrace.lease_ready: moves locked ready rows into lease, each with a token of its own, and counts the delivery. The own deadline
-- of a job is its hard run-time limit; liveness of an engine worker's job is its process row.
create or replace function millrace.lease_ready(
    p_job_ids uuid[], p_worker_id text, p_process uuid, p_lease interval, p_run_timeout interval, p_queue_lease interval,
    p_alone boolean)
  returns millrace.lease[] language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_leases millrace.lease[];
begin
  if coalesce(cardinality(p_job_ids), 0) = 0 then
    return '{}';
  end if;
  with d as (
    delete from millrace.ready r where r.job_id = any (p_job_ids) returning r.*),
  i as (
    insert into millrace.lease as l (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
        crash_count, suspect_count, snooze_count, born_at, token, worker_id, process, alone, lease_key, ready_seq, leased_at, renewed_at, lease_until)
    select d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count + 1,
           d.crash_count, d.suspect_count, d.snooze_count, d.born_at, gen_random_uuid(), p_worker_id, p_process, p_alone,
           case when d.flags & 6 <> 0
                then (select case when d.flags & 2 <> 0 then 's:' || f.serial_key else 'c:' || f.concurrency_key end
                        from millrace.job_fact f where f.job_id = d.job_id) end,
           d.ready_seq, n.now, n.now,
           n.now + coalesce(p_lease,
             coalesce(case when d.flags & 32 <> 0
                           then (select f.run_timeout from millrace.job_fact f where f.job_id = d.job_id) end, p_run_timeout)
             + p_queue_lease)
      from d cross join (select millrace.now() as now) n
     order by d.ready_seq
    returning l.*)
  select array_agg(row(i.*)::millrace.lease) into v_leases from i;
  return coalesce(v_leases, '{}');
end;
$$;
