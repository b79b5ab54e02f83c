-- millrace.claim_next_job: the name of Guardian v2 for millrace.claim_next_job_v3; its column is called payload.
create or replace function millrace.claim_next_job(worker_id text, job_types text[] default null)
  returns table (job_id uuid, job_type text, payload jsonb, retry_count integer)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return query
  select c.job_id, c.job_type, c.job_payload, c.retry_count
    from millrace.claim_next_job_v3(claim_next_job.worker_id, claim_next_job.job_types) c;
end;
$$;
