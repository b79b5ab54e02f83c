-- millrace.create_batch: a sealed batch with all its jobs in one call: all of it exists afterwards, or nothing.
create or replace function millrace.create_batch(p_jobs jsonb, p_options jsonb default '{}') returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id uuid := millrace.open_batch(p_options);
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' or jsonb_array_length(p_jobs) = 0 then
    raise exception 'a batch needs a JSON array of at least one job' using errcode = 'MR018';
  end if;
  perform e.job_id from millrace.enqueue_specs(millrace.specs_from_json((
    select jsonb_agg(case jsonb_typeof(j.job) when 'object' then j.job || jsonb_build_object('batch_id', v_id) else j.job end order by j.i)
      from jsonb_array_elements(p_jobs) with ordinality j(job, i))), millrace.current_tenant()) e;
  perform millrace.seal_batch(v_id);
  return v_id;
end;
$$;
