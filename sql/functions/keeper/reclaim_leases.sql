-- millrace.reclaim_leases: lost deliveries, locked by the caller, are charged and retried, each after a delay drawn for it alone,
-- or at once when one process was seen to die: there is no crowd that would come back together.
-- A process death makes its jobs suspects, and a death while the job ran alone counts as the job's crash; but only where no process
-- without the job died around that time: what befalls many is no evidence against one, and a storm of kills must not end with every
-- job waiting to be run alone.
create or replace function millrace.reclaim_leases(p_job_ids uuid[], p_error_type text, p_process_death boolean, p_at_once boolean default false) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.moving[];
  v_now timestamptz := millrace.now();
  v_deaths bigint := (select count(*) from millrace.process_death p where p.at > v_now - interval '5 seconds' and not p.alone);
  v_source_jitter integer := millrace.config_integer('worker.reclaim_jitter_max_seconds', 60);
begin
  if coalesce(cardinality(p_job_ids), 0) = 0 then
    return 0;
  end if;
  with d as (delete from millrace.lease l where l.job_id = any (p_job_ids) returning l.*)
  select array_agg(row(d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count,
           d.crash_count + case when p_process_death and d.alone and v_deaths = 0 then 1 else 0 end,
           -- Of the deaths, this one and those that it was lost in before are its own.
           d.suspect_count + case when p_process_death and not d.alone and v_deaths - 1 <= (
             select count(*) from millrace.attempt a where a.job_id = d.job_id and a.outcome = 'lost' and a.ended_at > v_now - interval '5 seconds')
             then 1 else 0 end,
           d.snooze_count, d.born_at, null, d.token, d.worker_id, d.leased_at, d.lease_key, d.ready_seq, d.progress, d.progress_data,
           case when d.cancel_requested_at is not null then coalesce(d.cancel_reason, 'cancelled') end, 'lost', null, null,
           jsonb_build_object('error_type', p_error_type, 'message', 'the worker lost its lease', 'original_worker', d.worker_id, 'timeout_at', v_now,
                              'reclaim_jitter_seconds', round(j.seconds::numeric, 3)),
           null, null, v_now + make_interval(secs => j.seconds), null, null, null, null)::millrace.moving)
    into v_rows
    from d join millrace.queue q on q.queue_id = d.queue_id
    cross join lateral (
      select random() * case when p_at_once then 0 when d.process is null then v_source_jitter else extract(epoch from q.reclaim_jitter)::double precision end as seconds
       where d.job_id is not null) j;
  perform millrace.settle_core(v_rows, null);
  return coalesce(cardinality(v_rows), 0);
end;
$$;
