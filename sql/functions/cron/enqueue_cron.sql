-- millrace.enqueue_cron: one run of a cron entry as a job of its tenant; the job is named after the
-- entry unless it has a name. The tenant setting is put back afterwards: the caller may work for
-- others.
create or replace function millrace.enqueue_cron(p_tenant uuid, p_name text, p_job jsonb)
  returns uuid
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := current_setting('millrace.tenant_id', true);
  v_job uuid;
begin
  perform set_config('millrace.tenant_id', p_tenant::text, true);
  select e.job_id into v_job
    from millrace.enqueue_jobs(jsonb_build_object('job_name', p_name) || p_job) e;
  perform set_config('millrace.tenant_id', coalesce(v_tenant, ''), true);
  return v_job;
end;
$$;
