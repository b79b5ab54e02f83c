-- millrace.cancel_mine: millrace.cancel_jobs for jobs the caller may see: a user the own ones (X-20). Others are answered not_found.
create or replace function millrace.cancel_mine(p_job_ids uuid[], p_reason text default null)
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_mine uuid[];
begin
  v_mine := array(select f.job_id from millrace.job_fact f where f.job_id = any (p_job_ids) and millrace.job_visible(f.tenant_id, f.owner_id, v_scope));
  return query
  select c.job_id, c.answer from millrace.cancel_jobs(v_mine, p_reason) c
  union all
  select u, 'not_found' from unnest(p_job_ids) u where u <> all (v_mine);
end;
$$;
