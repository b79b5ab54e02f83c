-- millrace.settle_slots: plain success of jobs of claims: their part of the claims' slots ends. Room only grows, so nobody waits for the
-- provider row, but where its breaker has counted failures: success closes it. The charge stays: nothing was said about tokens.
create or replace function millrace.settle_slots(p_claim_ids uuid[], p_left integer[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_failing smallint[];
begin
  v_failing := array(
    select distinct o.type_id from millrace.provider_slot s
      join millrace.api_rate_limits p on p.provider_id = s.provider_id
      join millrace.claim o on o.claim_id = s.claim_id
     where s.claim_id = any (p_claim_ids) and (p.breaker_failures > 0 or p.breaker_state <> 'closed')
       -- A call that was sent before the breaker opened says nothing about the provider now.
       and (p.breaker_state = 'closed' or s.acquired_at >= p.breaker_until));
  if cardinality(v_failing) > 0 then
    perform millrace.capacity_settle(array_fill(null::uuid, array[cardinality(v_failing)]), array_fill(null::uuid, array[cardinality(v_failing)]), v_failing,
      array_fill('ok'::text, array[cardinality(v_failing)]), array_fill(null::bigint, array[cardinality(v_failing)]),
      array_fill(null::timestamptz, array[cardinality(v_failing)]), array_fill(null::text, array[cardinality(v_failing)]));
  end if;
  delete from millrace.provider_slot s
   where s.claim_id = any (array(select u.claim_id from unnest(p_claim_ids, p_left) u(claim_id, n) where u.n = 0));
  update millrace.provider_slot s set jobs = (select u.n from unnest(p_claim_ids, p_left) u(claim_id, n) where u.claim_id = s.claim_id)
   where s.claim_id = any (array(select u.claim_id from unnest(p_claim_ids, p_left) u(claim_id, n) where u.n > 0));
end;
$$;
