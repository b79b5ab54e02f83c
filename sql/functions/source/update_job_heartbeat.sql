-- millrace.update_job_heartbeat: renews the lease; false means that the worker has lost the job, or is asked to cancel it, and must
-- stop without writing results. A job whose cancellation was asked for ends cancelled here.
-- The lease of an engine worker is renewed by its process; here it is only confirmed.
create or replace function millrace.update_job_heartbeat(p_job_id uuid, p_worker_id text)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_cancel boolean;
begin
  update millrace.lease l
     set renewed_at = case when l.process is null then millrace.now() else l.renewed_at end,
         lease_until = case when l.process is null then millrace.now() + millrace.source_lease(l.type_id) else l.lease_until end
   where l.job_id = p_job_id and l.worker_id = p_worker_id and (v_scope is null or l.tenant_id = v_scope)
  returning l.cancel_requested_at is not null into v_cancel;
  if v_cancel then
    perform millrace.settle_core(
      array[millrace.with_outcome(millrace.take_held(p_job_id, p_worker_id), 'cancelled', null, null)], p_worker_id);
  end if;
  return coalesce(not v_cancel, false);
end;
$$;
