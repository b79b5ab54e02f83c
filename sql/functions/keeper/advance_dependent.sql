-- millrace.advance_dependent: judges a job that waits for others: release it, cancel it, or let it wait on. A prerequisite that
-- retention has removed counts as completed.
create or replace function millrace.advance_dependent(p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_state record;
  v_due timestamptz;
begin
  perform from millrace.delayed d where d.job_id = p_job_id and d.reason = 'dependency' for update skip locked;
  if not found then
    if exists (select from millrace.delayed d where d.job_id = p_job_id and d.reason = 'dependency') then
      insert into millrace.handoff (kind, tenant_id, job_id) select 'dependency', d.tenant_id, d.job_id from millrace.delayed d where d.job_id = p_job_id;
    else
      delete from millrace.dependency y where y.job_id = p_job_id;
    end if;
    return;
  end if;
  select max(y.mode) as mode, max(y.on_failure) as on_failure, count(*) as total,
         count(*) filter (where s.status = 'completed') as good,
         count(*) filter (where s.status in ('failed', 'cancelled')) as bad,
         min(y.depends_on::text) filter (where s.status in ('failed', 'cancelled')) as culprit
    into v_state
    from millrace.dependency y
    cross join lateral (
      select case when not exists (select from millrace.job_fact f where f.job_id = y.depends_on) then 'completed'
                  else coalesce((select h.status from millrace.job_history h where h.job_id = y.depends_on and h.redriven_at is null
                                  order by h.generation desc limit 1)::text,
                                (select 'completed' from millrace.lane_state(y.depends_on) l where l.state = 'completed')) end as status) s
   where y.job_id = p_job_id;
  if v_state.on_failure = 'run' then
    v_state.good := v_state.good + v_state.bad;
    v_state.bad := 0;
  end if;
  if (v_state.mode = 'all' and v_state.bad > 0) or (v_state.mode = 'any' and v_state.good = 0 and v_state.bad = v_state.total and v_state.total > 0) then
    delete from millrace.dependency y where y.job_id = p_job_id;
    perform millrace.cancel_one(p_job_id, null, format('prerequisite %s did not complete', v_state.culprit));
  elsif v_state.total = 0 or (v_state.mode = 'all' and v_state.good = v_state.total) or (v_state.mode = 'any' and v_state.good > 0) then
    delete from millrace.dependency y where y.job_id = p_job_id;
    select f.scheduled_at into v_due from millrace.job_fact f where f.job_id = p_job_id;
    if v_due > millrace.now() then
      update millrace.delayed d set reason = 'scheduled', due_at = v_due where d.job_id = p_job_id;
    else
      perform millrace.promote_rows(array[p_job_id]);
    end if;
  end if;
end;
$$;
