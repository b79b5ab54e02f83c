-- millrace.unheld_leases: a process whose claim was not answered asks which of its leases it does not know. It gives them back by their
-- tokens: this function changes nothing, so that it does no harm when it runs late, after newer claims.
create or replace function millrace.unheld_leases(p_worker_id text, p_process uuid, p_held uuid[]) returns table (job_id uuid, token uuid)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return query
  select l.job_id, l.token from millrace.lease l
   where l.process = p_process and l.worker_id = p_worker_id and not l.token = any (coalesce(p_held, '{}'))
  union all
  select c.job_ids[g.i], millrace.claim_token(o.claim_id, g.i - 1)
    from millrace.claim_open o join millrace.claim c on c.claim_id = o.claim_id and c.claimed_at = o.claimed_at
    cross join lateral generate_series(1, length(o.held)) g(i)
   where o.process = p_process and o.worker_id = p_worker_id and get_bit(o.held, g.i - 1) = 1
     and not millrace.claim_token(o.claim_id, g.i - 1) = any (coalesce(p_held, '{}'))
   order by 1;
end;
$$;
