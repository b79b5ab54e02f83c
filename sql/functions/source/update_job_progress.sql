-- millrace.update_job_progress: progress of a running export, never backwards; false when it is not running (any more). A job whose
-- cancellation was asked for ends cancelled here, with false.
create or replace function millrace.update_job_progress(p_job_id uuid, p_pct integer)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_lease record;
begin
  if p_pct is null or p_pct not between 0 and 100 then
    raise exception 'p_pct must be between 0 and 100' using errcode = 'MR024';
  end if;
  select l.worker_id, l.token, l.cancel_requested_at into v_lease from millrace.lease l
   where l.job_id = p_job_id and (v_scope is null or l.tenant_id = v_scope);
  if not found then
    return false;
  end if;
  if v_lease.cancel_requested_at is not null then
    perform s.answer from millrace.settle_jobs(v_lease.worker_id,
      jsonb_build_array(jsonb_build_object('job_id', p_job_id, 'token', v_lease.token, 'outcome', 'cancelled'))) s;
    return false;
  end if;
  return (select r.answer = 'settled' from millrace.report_progress(v_lease.worker_id,
            jsonb_build_array(jsonb_build_object('job_id', p_job_id, 'token', v_lease.token, 'progress', p_pct))) r);
end;
$$;
