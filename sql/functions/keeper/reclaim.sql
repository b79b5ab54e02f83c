-- millrace.reclaim: takes over what dead workers held. Two kinds of death: a process whose row has expired (all its jobs), and a job
-- whose own deadline has passed. Rows that somebody settles at this moment are skipped. At most p_limit jobs a call.
-- The process rows go first, in a statement of their own: the second statement then sees every lease they still have.
create or replace function millrace.reclaim(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_count integer := 0;
  v_dead uuid[];
  v_gone uuid[];
  v_claims uuid[];
begin
  with gone as (
    delete from millrace.worker w
     using (select x.worker_id from millrace.worker x where x.lease_until < millrace.now() order by x.lease_until limit 100 for update skip locked) s
     where w.worker_id = s.worker_id returning w.nonce)
  select array_agg(g.nonce) into v_gone from gone g;
  perform millrace.note_deaths(v_gone);
  with recursive p as (
    select (select min(x.process::text)::uuid from (
              (select l.process from millrace.lease l where l.process is not null order by l.process limit 1)
              union all (select o.process from millrace.claim_open o order by o.process limit 1)) x) as process
    union all
    select (select min(x.process::text)::uuid from (
              (select l.process from millrace.lease l where l.process > p.process order by l.process limit 1)
              union all (select o.process from millrace.claim_open o where o.process > p.process order by o.process limit 1)) x) from p where p.process is not null)
  select array_agg(p.process) into v_dead from p
   where p.process is not null and not exists (select from millrace.worker w where w.nonce = p.process);
  -- Whole claims, until the limit is reached. Before leases: a job may be given a lease of its own at this moment, but never the other
  -- way round.
  if v_dead is not null then
    v_claims := array(
      select o.claim_id from millrace.claim_open o where o.process = any (v_dead) order by o.claim_id limit p_limit for update skip locked);
    v_count := cardinality(millrace.reclaim_claims(array(
      select s.claim_id from (select o.claim_id, sum(bit_count(o.held)) over (order by o.claim_id) - bit_count(o.held) as before
                                from millrace.claim_open o where o.claim_id = any (v_claims)) s where s.before < p_limit), 'worker_timeout', true, false));
    v_count := v_count + millrace.reclaim_leases(array(
      select l.job_id from millrace.lease l where l.process = any (v_dead) order by l.job_id limit greatest(0, p_limit - v_count) for update skip locked), 'worker_timeout', true);
  end if;
  v_count := v_count + cardinality(millrace.reclaim_claims(array(
    select o.claim_id from millrace.claim_open o where o.lease_until < millrace.now() order by o.lease_until limit greatest(0, least(16, p_limit - v_count))
       for update skip locked), 'worker_timeout', false, false));
  return v_count + millrace.reclaim_leases(array(
    select l.job_id from millrace.lease l where l.lease_until < millrace.now() order by l.lease_until limit greatest(0, p_limit - v_count)
       for update skip locked), 'worker_timeout', false);
end;
$$;
