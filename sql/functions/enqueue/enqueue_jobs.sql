-- millrace.enqueue_jobs: enqueues a JSON array (or one object) of jobs in the caller's transaction; all or none.
-- Answers one row per job, in order: 'created', or 'duplicate' with the id of the job that has the key already.
create or replace function millrace.enqueue_jobs(p_jobs jsonb)
  returns table (ord integer, job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select e.ord, e.job_id, e.answer
    from millrace.enqueue_specs(millrace.specs_from_json(p_jobs), millrace.current_tenant()) e;
end;
$$;
