-- millrace.take_held: the fence of the source-named functions. Takes the lease that this worker (null: whoever) holds on the job
-- out of its place; null where there is none, or where the job is another tenant's. One statement decides: a caller that
-- comes too late finds nothing.
create or replace function millrace.take_held(p_job_id uuid, p_worker_id text) returns millrace.moving
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_row millrace.moving;
begin
  with d as (
    delete from millrace.lease l
     where l.job_id = p_job_id and (p_worker_id is null or l.worker_id = p_worker_id) and (v_scope is null or l.tenant_id = v_scope)
    returning l.*)
  select m.* into v_row from d cross join lateral millrace.moving_of(row(d.*)::millrace.lease) m;
  return v_row;
end;
$$;
