-- millrace.claim_next_job_v3: hands the next job to a worker of the Guardian plan; no row when nothing is due. The lease is timed by
-- itself and renewed by millrace.update_job_heartbeat. Fence: job id and worker id; clients that share one worker id share it.
create or replace function millrace.claim_next_job_v3(worker_id text, job_types text[] default null)
  returns table (job_id uuid, job_type text, job_payload jsonb, retry_count integer)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_types smallint[];
begin
  if coalesce(claim_next_job_v3.worker_id, '') = '' then
    raise exception 'worker_id must not be empty' using errcode = 'MR024';
  end if;
  if millrace.keeper_is_stale() then
    perform millrace.keep_a_little();
  end if;
  if claim_next_job_v3.job_types is not null then
    v_types := array(select t.type_id from millrace.job_type t where t.job_type = any (claim_next_job_v3.job_types));
  end if;
  return query
  select d.job_id, d.job_type, d.payload, d.attempt - 1
    from millrace.claim_core(claim_next_job_v3.worker_id, null, null, v_types, millrace.tenant_scope(), null, 1,
           make_interval(secs => millrace.config_integer('worker.timeout_seconds', 300)), false, null, false, false, false) d;
end;
$$;
