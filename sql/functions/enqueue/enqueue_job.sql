-- millrace.enqueue_job: enqueues one job. p_options takes every other field of millrace.enqueue_jobs.
create or replace function millrace.enqueue_job(p_job_type text, p_payload jsonb, p_options jsonb default '{}')
  returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_id uuid;
begin
  if jsonb_typeof(p_options) <> 'object' then
    raise exception 'p_options must be a JSON object, not a JSON %', jsonb_typeof(p_options) using errcode = 'MR024';
  end if;
  if millrace.plain_options(p_options) then
    select e into v_id
      from millrace.enqueue_plain(p_job_type, p_options ->> 'queue', (p_options ->> 'priority')::integer, array[p_payload], millrace.current_tenant()) e;
  end if;
  return coalesce(v_id, (
    select e.job_id from millrace.enqueue_specs(
      millrace.specs_from_json(coalesce(p_options, '{}') || jsonb_build_object('job_type', p_job_type, 'payload', p_payload)),
      millrace.current_tenant()) e));
end;
$$;
