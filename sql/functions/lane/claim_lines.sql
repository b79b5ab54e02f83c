-- millrace.claim_lines: the jobs of a claim that was handed out without them, a line each in their order (see millrace.delivery). Null when it is
-- not held any more.
create or replace function millrace.claim_lines(p_worker_id text, p_claim_id uuid) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_ids uuid[];
begin
  select c.job_ids || '{}'::uuid[] into v_ids
    from millrace.claim_open o join millrace.claim c on c.claim_id = o.claim_id and c.claimed_at = o.claimed_at
   where o.claim_id = p_claim_id and o.worker_id = p_worker_id;
  return (
    select string_agg(x.line, E'\n') from (
      select millrace.job_line(f.job_id, f.payload, f.job_name, f.correlation_id, f.traceparent, f.pipeline, f.stage, f.parent_id) as line
        from unnest(v_ids) with ordinality u(job_id, n) join millrace.job_fact f on f.job_id = u.job_id
       order by u.n) x);
end;
$$;
