-- millrace.job_detail: millrace.get_job for everybody who may see the job: with payload and attempts.
create or replace function millrace.job_detail(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if not exists (select from millrace.job_fact f where f.job_id = p_job_id and millrace.job_visible(f.tenant_id, f.owner_id, millrace.tenant_scope())) then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return millrace.get_job(p_job_id);
end;
$$;
