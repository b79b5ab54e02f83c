-- millrace.cancel_jobs: a waiting job ends cancelled at once; a running one is asked to stop, and its worker is told at its next
-- heartbeat. Answers per job: cancelled, cancel_requested, already_final, not_found.
create or replace function millrace.cancel_jobs(p_job_ids uuid[], p_reason text default null)
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_reason text := left(coalesce(nullif(p_reason, ''), 'cancelled by ' || millrace.actor()), 500);
  v_id uuid;
  v_answer text;
begin
  if cardinality(p_job_ids) > 10000 then
    raise exception 'at most 10000 jobs can be cancelled in one call' using errcode = 'MR024';
  end if;
  -- All at once, so that lanes and claims are locked in order.
  perform millrace.unfold(array(select f.job_id from millrace.job_fact f where f.job_id = any (p_job_ids) and (v_scope is null or f.tenant_id = v_scope)));
  for v_id in select distinct u from unnest(p_job_ids) u order by u loop
    job_id := v_id;
    answer := millrace.cancel_one(v_id, v_scope, v_reason);
    return next;
  end loop;
end;
$$;
