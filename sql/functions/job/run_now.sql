-- millrace.run_now: jobs that wait for a time, a retry or an event become ready at once. Jobs that wait for other jobs stay.
create or replace function millrace.run_now(p_job_ids uuid[], p_reason text default null)
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_ready uuid[];
begin
  select array_agg(s.job_id) into v_ready from (
    select d.job_id from millrace.delayed d
     where d.job_id = any (p_job_ids) and d.reason in ('scheduled', 'retrying', 'deferred')
       and (millrace.tenant_scope() is null or d.tenant_id = millrace.tenant_scope())
     order by d.job_id for update skip locked) s;
  perform millrace.audit_jobs('run_now', v_ready, coalesce(p_reason, 'Made ready by operator'));
  perform millrace.promote_rows(v_ready);
  return query select u, case when u = any (v_ready) then 'ready' else millrace.place_of(u) end from unnest(p_job_ids) u;
end;
$$;
