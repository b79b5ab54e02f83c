-- millrace.ensure_job_types: registers the types a worker has handlers for and nobody registered yet. Existing ones stay as they are.
create or replace function millrace.ensure_job_types(p_types text[], p_queue text) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_queue_id smallint;
  v_count integer;
begin
  select q.queue_id into v_queue_id from millrace.queue q where q.queue = p_queue;
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_queue) using errcode = 'MR007';
  end if;
  insert into millrace.job_type (job_type, queue_id)
  select u, v_queue_id from unnest(p_types) u where not exists (select from millrace.job_type t where t.job_type = u)
  on conflict (job_type) do nothing;
  get diagnostics v_count = row_count;
  return v_count;
exception when check_violation then
  raise exception 'a job type must have 1 to 127 letters, digits or _ . : -' using errcode = 'MR017';
end;
$$;
