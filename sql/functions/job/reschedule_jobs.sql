-- millrace.reschedule_jobs: gives waiting jobs (ready, scheduled, retrying, deferred) another due time. Running jobs are sent back
-- only by their holder, through millrace.settle_jobs.
create or replace function millrace.reschedule_jobs(p_job_ids uuid[], p_due_at timestamptz, p_reason text default null)
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_moved uuid[];
  v_now timestamptz := millrace.now();
begin
  if p_due_at is null or p_due_at > v_now + interval '10 years' then
    raise exception 'p_due_at must be a time less than 10 years ahead' using errcode = 'MR006';
  end if;
  perform millrace.unfold(array(select f.job_id from millrace.job_fact f
     where f.job_id = any (p_job_ids) and (v_scope is null or f.tenant_id = v_scope) and millrace.place_of(f.job_id) = 'ready'));
  with held as materialized (
    select r.job_id from millrace.ready r where r.job_id = any (p_job_ids) and (v_scope is null or r.tenant_id = v_scope)
     order by r.job_id for update skip locked),
  d as (
    delete from millrace.ready r using held h where r.job_id = h.job_id returning r.*),
  i as (
    insert into millrace.delayed as n (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count, crash_count, suspect_count,
        snooze_count, born_at, reason, due_at, start_deadline, delayed_at)
    select d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count, d.crash_count, d.suspect_count,
           d.snooze_count, d.born_at, 'scheduled', p_due_at, d.start_deadline, v_now from d returning n.job_id),
  c as (
    insert into millrace.counter_delta (queue_id, tenant_id, ready, delayed)
    select d.queue_id, d.tenant_id, -count(*), count(*) from d group by d.queue_id, d.tenant_id),
  w as materialized (
    select y.job_id from millrace.delayed y where y.job_id = any (p_job_ids) and y.reason in ('scheduled', 'retrying', 'deferred')
       and (v_scope is null or y.tenant_id = v_scope) order by y.job_id for update skip locked),
  u as (
    update millrace.delayed y set due_at = p_due_at from w where y.job_id = w.job_id returning y.job_id)
  select array(select i.job_id from i union all select u.job_id from u) into v_moved;
  perform millrace.audit_jobs('rescheduled', v_moved, coalesce(p_reason, 'Rescheduled by operator'));
  return query select x, case when x = any (v_moved) then 'rescheduled' else millrace.place_of(x) end from unnest(p_job_ids) x;
end;
$$;
