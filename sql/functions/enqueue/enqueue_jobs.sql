-- millrace.enqueue_jobs: enqueues a JSON array (or one object) of jobs in the caller's transaction; all or none.
-- Answers one row per job, in order: 'created', or 'duplicate' with the id of the job that has the key already.
create or replace function millrace.enqueue_jobs(p_jobs jsonb)
  returns table (ord integer, job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return query
  select e.ord, e.job_id, e.answer
    from millrace.enqueue_specs(millrace.specs_from_json(p_jobs), millrace.current_tenant()) e;
end;
$$;
