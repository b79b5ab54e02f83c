-- millrace.complete_claims: plain success of jobs of claims: p_done has, per claim, a bit for each job that succeeded. One row of history a
-- claim, whatever their number. Answers, in the order given, the bits that were accepted; the others are not held (any more) under
-- the claim, and millrace.complete_jobs says what became of each. A claim must not be named twice.
create or replace function millrace.complete_claims(p_worker_id text, p_claim_ids uuid[], p_done bit varying[])
  returns setof bit varying language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
  v_open millrace.claim_open[];
  v_limited uuid[];
  v_left integer[];
begin
  if cardinality(p_claim_ids) is distinct from cardinality(p_done) then
    raise exception 'p_claim_ids and p_done must have the same length' using errcode = 'MR016';
  end if;
  if cardinality(p_claim_ids) > 1 and (select count(distinct c) from unnest(p_claim_ids) c) < cardinality(p_claim_ids) then
    raise exception 'p_claim_ids must not name a claim twice' using errcode = 'MR016';
  end if;
  v_open := array(
    select row(o.*)::millrace.claim_open from millrace.claim_open o
     where o.claim_id = any (p_claim_ids) and o.worker_id = p_worker_id order by o.claim_id for update);
  v_now := millrace.now();
  if exists (select from millrace.provider_slot s where s.claim_id = any (p_claim_ids)) then
    select array_agg(o.claim_id), array_agg(bit_count(o.held & ~ u.done)::integer) into v_limited, v_left
      from unnest(v_open) o join unnest(p_claim_ids, p_done) u(claim_id, done) on u.claim_id = o.claim_id
     where case when length(u.done) = length(o.held) then bit_count(o.held & u.done) > 0 end;
    perform millrace.settle_slots(v_limited, v_left);
  end if;
  return query
  with u as materialized (
    select u.n, o.*, case when length(u.done) = length(o.held) then o.held & u.done else o.held # o.held end::bit varying as done
      from unnest(p_claim_ids, p_done) with ordinality u(claim_id, done, n) left join unnest(v_open) o on o.claim_id = u.claim_id),
  s as materialized (select u.*, bit_count(u.done)::integer as jobs from u where bit_count(u.done) > 0),
  kept as (
    update millrace.claim_open o set held = o.held & ~ (select s.done from s where s.claim_id = o.claim_id)
     where o.claim_id = any (array(select s.claim_id from s where s.held <> s.done))),
  ended as (
    delete from millrace.claim_open o where o.claim_id = any (array(select s.claim_id from s where s.held = s.done))),
  history as (
    insert into millrace.claim_done (claim_id, claimed_at, tenant_id, at, done)
    select s.claim_id, s.claimed_at, s.tenant_id, v_now, s.done from s),
  audited as (
    insert into millrace.audit (at, tenant_id, actor, worker_id, table_name, record_id, operation, action, new_values, reason)
    select v_now, s.tenant_id, p_worker_id, p_worker_id, 'claim', s.claim_id::text, 'UPDATE', 'completed',
           jsonb_build_object('jobs', s.jobs, 'done', s.done::text, 'status', 'completed', 'worker_id', p_worker_id), 'Jobs completed successfully'
      from s),
  told as (
    insert into millrace.event (at, tenant_id, kind, queue_id, data)
    select v_now, s.tenant_id, 'job.completed', s.queue_id, jsonb_build_object('claim', s.claim_id, 'jobs', s.jobs, 'done', s.done::text) from s),
  counted as (
    insert into millrace.counter_delta (queue_id, tenant_id, completed, leased)
    select s.queue_id, s.tenant_id, sum(s.jobs), -sum(s.jobs) from s group by s.queue_id, s.tenant_id)
  select u.done::bit varying from u order by u.n;
  if exists (select from millrace.dependency) then
    perform millrace.note_dependents(array(
      select c.job_ids[g.i] from unnest(p_claim_ids, p_done) u(claim_id, done)
        join millrace.claim c on c.claim_id = u.claim_id
        cross join lateral generate_series(1, least(length(u.done), cardinality(c.job_ids))) g(i) where get_bit(u.done, g.i - 1) = 1));
  end if;
end;
$$;
