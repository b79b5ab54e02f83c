-- millrace.extend_leases: moves the own deadline of held jobs to p_extend_ms from now, and says which were asked to cancel. An answer per lease,
-- in the order of the question: a job may be asked about with an old and a new token.
create or replace function millrace.extend_leases(p_worker_id text, p_job_ids uuid[], p_tokens uuid[], p_extend_ms bigint)
  returns table (job_id uuid, answer text, cancel_requested boolean)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_extended uuid[];
  v_cancelled uuid[];
begin
  if p_extend_ms is null or p_extend_ms not between 1 and 604800000 then
    raise exception 'p_extend_ms must be between 1 and 604800000' using errcode = 'MR024';
  end if;
  perform millrace.pin_claimed(p_worker_id, p_job_ids, p_tokens);
  with held as materialized (
    select l.job_id from millrace.lease l
     where l.job_id = any (p_job_ids) and l.worker_id = p_worker_id
       and exists (select from unnest(p_job_ids, p_tokens) u(job_id, token) where u.job_id = l.job_id and u.token = l.token)
     order by l.job_id for no key update),
  x as (
    update millrace.lease l set lease_until = millrace.now() + make_interval(secs => p_extend_ms / 1000.0), renewed_at = millrace.now()
     where l.job_id = any (array(select h.job_id from held h)) returning l.token, l.cancel_requested_at is not null as cancel)
  select array_agg(x.token), array_agg(x.token) filter (where x.cancel) into v_extended, v_cancelled from x;
  -- In a statement of its own: one that waited for a settlement began too early to see it.
  return query
  select u.job_id, case when u.token = any (v_extended) then 'extended' else millrace.explain_stale(u.job_id, u.token) end,
         coalesce(u.token = any (v_cancelled), false)
    from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, n) order by u.n;
end;
$$;
