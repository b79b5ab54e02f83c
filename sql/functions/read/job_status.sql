-- millrace.job_status: one job as the API shows it, with its result, or MR009: another user's, another tenant's and an unknown one look the same.
create or replace function millrace.job_status(p_job_id uuid) returns json
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_job millrace.job_brief := millrace.job_brief_of(p_job_id);
begin
  if v_job.job_id is null or not millrace.job_visible(v_job.tenant_id, v_job.owner_id, millrace.tenant_scope()) then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return row_to_json(v_job);
end;
$$;
