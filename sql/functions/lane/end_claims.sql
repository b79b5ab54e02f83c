-- millrace.end_claims: ends claims, locked by the caller, and returns the jobs still held under them.
create or replace function millrace.end_claims(p_claim_ids uuid[]) returns millrace.moving[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.moving[];
begin
  with o as (
    delete from millrace.claim_open x where x.claim_id = any (p_claim_ids) returning x.*)
  select array_agg(millrace.moving_of_fact(row(f.*)::millrace.job_fact, millrace.claim_token(o.claim_id, (u.n - 1)::integer), o.worker_id, o.claimed_at)
                   order by o.claimed_at, o.claim_id, u.n)
    into v_rows
    from o join millrace.claim c on c.claim_id = o.claim_id and c.claimed_at = o.claimed_at
    cross join lateral unnest(c.job_ids) with ordinality u(job_id, n)
    join millrace.job_fact f on f.job_id = u.job_id
   where get_bit(o.held, (u.n - 1)::integer) = 1;
  delete from millrace.provider_slot s where s.claim_id = any (p_claim_ids);
  return coalesce(v_rows, '{}');
end;
$$;
