-- millrace.claim_group: takes up to p_limit jobs from the head of one group and leases them to p_worker_id.
-- Moving a row from ready to lease is one statement; rows that others hold locked are skipped, never waited for.
-- The candidates are locked first, in a materialised list, so that no plan can take more than the limit.
create or replace function millrace.claim_group(
    p_queue_id smallint, p_type_id smallint, p_tenant_id uuid, p_priority smallint, p_mark bigint, p_limit integer, p_cutoff timestamptz, p_owner uuid, p_worker_id text, p_process uuid, p_lease interval,
    p_provider_id integer, p_alone boolean)
  returns setof millrace.lease language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_cand millrace.ready[];
  v_run uuid[];
  v_keyed millrace.ready[];
  v_parked uuid[];
  v_keys text[];
  v_seqs bigint[];
  v_passed boolean;
  v_late millrace.ready[];
  v_costly millrace.ready[];
  v_limit integer := p_limit;
  v_policy record;
  v_slots integer[];
  v_leases millrace.lease[] := '{}';
  v_room integer;
  v_more_behind boolean;
  v_requests integer;
  v_tokens bigint;
  v_now timestamptz;
begin
  select q.concurrency_max, q.key_concurrency_max, coalesce(t.run_timeout, q.run_timeout) as run_timeout, q.lease into strict v_policy
    from millrace.queue q join millrace.job_type t on t.type_id = p_type_id where q.queue_id = p_queue_id;
  if v_policy.concurrency_max is not null then
    v_slots := millrace.free_slots(p_queue_id, v_policy.concurrency_max, v_limit);
    v_limit := least(v_limit, coalesce(cardinality(v_slots), 0));
  end if;
  if p_provider_id is not null then
    select r.requests, r.tokens into v_requests, v_tokens from millrace.capacity_room(p_provider_id) r;
    v_limit := least(v_limit, v_requests);
  end if;
  if v_limit <= 0 then
    return;
  end if;

  -- Jobs that are late or whose key is busy make way; what stands behind them is looked at in the same call, or they would hold up
  -- the line. Only so often, so that a claim stays short, and not where tokens are short: those were reckoned with the first look.
  v_room := v_limit;
  for v_round in 1 .. 100 loop
    with c as materialized (
      select r.* from millrace.ready r
       where r.queue_id = p_queue_id and r.type_id = p_type_id and r.tenant_id = p_tenant_id
         and r.priority = p_priority and r.ready_seq > p_mark and r.ready_at <= p_cutoff
         and (r.suspect_count >= 3) = p_alone
         and (p_owner is null or exists (select from millrace.job_fact f where f.job_id = r.job_id and f.owner_id = p_owner))
       order by r.ready_seq limit v_limit for update skip locked)
    select array_agg(row(c.*)::millrace.ready order by c.ready_seq) into v_cand from c;
    exit when v_cand is null;
    v_more_behind := cardinality(v_cand) = v_limit;
    p_mark := (v_cand[cardinality(v_cand)]).ready_seq;
    v_now := millrace.now();
    select array_agg(c) filter (where c.start_deadline <= v_now) into v_late from unnest(v_cand) c;
    if v_late is not null then
      perform millrace.expire_ready(v_late);
    end if;
    if v_tokens < 9223372036854775807 then
      -- A limit that was lowered below a waiting job's cost: it would block the line for ever.
      select array_agg(c) into v_costly from unnest(v_cand) c join millrace.job_fact f on f.job_id = c.job_id
       where f.estimated_tokens > millrace.token_limit(p_provider_id);
      if v_costly is not null then
        perform millrace.fail_ready(v_costly, 'cost_over_limit', jsonb_build_object('error_type', 'cost_over_limit', 'sqlstate', 'MR014',
          'message', 'estimated_tokens is more than the provider grants in a whole window'));
        v_cand := array(select row(c.*)::millrace.ready from unnest(v_cand) c
                         where not exists (select from unnest(v_costly) x where x.job_id = c.job_id) order by c.ready_seq);
      end if;
      v_cand := array(
        select c.row from (
          select row(r.*)::millrace.ready as row, r.ready_seq,
                 sum(f.estimated_tokens) over (order by r.ready_seq rows unbounded preceding) as tokens
            from unnest(v_cand) r join millrace.job_fact f on f.job_id = r.job_id) c
         where c.tokens <= v_tokens order by c.ready_seq);
    end if;

    select array_agg(c.job_id) filter (where not k.keyed), array_agg(row(c.*)::millrace.ready order by c.ready_seq) filter (where k.keyed)
      into v_run, v_keyed
      from unnest(v_cand) c
      cross join lateral (select c.flags & 2 <> 0 or (c.flags & 4 <> 0 and v_policy.key_concurrency_max is not null) as keyed) k
     where c.start_deadline is null or c.start_deadline > v_now;
    v_passed := false;
    if v_keyed is not null then
      select v_run || array_agg(j.job_id) filter (where j.verdict = 'run'), bool_or(j.verdict = 'skip'),
             array_agg(j.job_id) filter (where j.verdict = 'park'), array_agg(j.key) filter (where j.verdict = 'park'),
             array_agg(j.seq) filter (where j.verdict = 'park')
        into v_run, v_passed, v_parked, v_keys, v_seqs
        from millrace.judge_keys(v_keyed, p_tenant_id, p_queue_id, v_policy.key_concurrency_max) j;
      if v_parked is not null then
        perform millrace.park_ready(v_parked, v_keys, v_seqs);
      end if;
    end if;
    v_leases := v_leases || millrace.lease_ready(v_run, p_worker_id, p_process, p_lease, v_policy.run_timeout, v_policy.lease, p_alone);
    v_limit := v_room - cardinality(v_leases);
    -- Keys that others judge are not passed by again and again: what stands behind them has most likely the same.
    exit when v_limit <= 0 or not v_more_behind or (v_passed and v_round >= 5) or v_tokens < 9223372036854775807;
  end loop;

  if v_slots is not null then
    update millrace.queue_slot s set job_id = l.job_id, token = l.token
      from (select u.job_id, u.token, row_number() over () as n from unnest(v_leases) u) l
     where s.queue_id = p_queue_id and s.slot_no = v_slots[l.n];
  end if;
  if p_provider_id is not null and cardinality(v_leases) > 0 then
    perform millrace.capacity_take(p_provider_id, array_agg(l.job_id), array_agg(l.token), p_worker_id,
                                   array_agg(f.estimated_tokens::bigint), max(l.lease_until))
       from unnest(v_leases) l join millrace.job_fact f on f.job_id = l.job_id;
  end if;
  return query select l.* from unnest(v_leases) l;
end;
$$;
