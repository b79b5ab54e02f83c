-- millrace.claim_core: hands out up to p_limit ready jobs. Groups are served by effective priority (priority plus waiting time by the
-- queue's age_step); tenants share a batch by weight, so that none is starved by another's backlog. Types whose provider has no
-- room are not looked at. p_process is the nonce of a worker process, or null for a lease timed by itself (p_lease).
-- Fence: each lease gets a new random token. Running it twice hands out more jobs; an answer that was lost is
-- repaired by way of millrace.unheld_leases or by the lease.
create or replace function millrace.claim_core(
    p_worker_id text, p_process uuid, p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_owner uuid, p_limit integer,
    p_lease interval, p_take_capacity boolean, p_marks jsonb, p_alone boolean)
  returns setof millrace.lease language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_group record;
  v_take integer;
  v_left integer := p_limit;
  v_batch millrace.lease[];
  v_all millrace.lease[] := '{}';
  v_closed integer[] := '{}';
  v_locked integer[] := '{}';
  v_dry text[] := '{}';
  v_key text;
  v_cutoff timestamptz;
begin
  for v_group in
    with g as materialized (
      select * from millrace.claim_groups(p_queue_ids, p_type_ids, p_tenant) where p_marks is null and not p_alone
      union all
      select * from millrace.claim_marked_groups(p_marks, p_queue_ids, p_type_ids) where p_marks is not null and not p_alone
      union all
      select * from millrace.claim_suspects(p_queue_ids, p_type_ids, p_tenant) where p_alone),
    e as (
      select g.*, t.weight, q.age_step, p.provider_id,
             g.priority + case when q.age_step is null then 0
               else floor(extract(epoch from millrace.now() - g.ready_at) / extract(epoch from q.age_step)) end as effective
        from g join millrace.queue q on q.queue_id = g.queue_id
        cross join lateral (select coalesce((select w.weight from millrace.tenant_weight w where w.tenant_id = g.tenant_id), 1) as weight) t
        left join millrace.job_type jt on jt.type_id = g.type_id and p_take_capacity
        left join millrace.api_rate_limits p on p.provider_name = jt.provider_name and p.api_endpoint = jt.api_endpoint),
    share as (
      select s.tenant_id, -ln(1 - random()) / s.weight as turn,
             greatest(1, floor(p_limit * s.weight::numeric / sum(s.weight) over ()))::integer as quota
        from (select distinct e.tenant_id, e.weight from e) s)
    -- Round 1 gives every tenant its share in random order, round 2 what is left by effective priority.
    select 1 as round, s.turn, s.quota, e.*,
           lead(e.effective) over (partition by e.tenant_id order by e.effective desc, e.ready_at) as next_effective
      from e join share s on s.tenant_id = e.tenant_id
    union all
    select 2, 0, p_limit, e.*, null from e
    order by 1, 2, tenant_id, effective desc, ready_at
  loop
    exit when v_left <= 0;
    v_key := concat_ws(':', v_group.queue_id, v_group.type_id, v_group.tenant_id, v_group.priority, v_group.mark);
    continue when v_group.provider_id = any (v_closed) or v_key = any (v_dry);
    if v_group.provider_id is not null and not v_group.provider_id = any (v_locked) then
      perform from millrace.api_rate_limits p where p.provider_id = v_group.provider_id for update skip locked;
      if not found then
        v_closed := v_closed || v_group.provider_id;
        continue;
      end if;
      v_locked := v_locked || v_group.provider_id;
    end if;
    v_take := least(v_left, case when v_group.round = 1
      then v_group.quota - (select count(*) from unnest(v_all) l where l.tenant_id = v_group.tenant_id)::integer else v_left end);
    continue when v_take <= 0;
    -- Younger jobs of an aged group must not overtake the next group: they are cut off where its head would win.
    v_cutoff := case when v_group.round = 1 and v_group.age_step is not null and v_group.next_effective > v_group.priority
                     then millrace.now() - (v_group.next_effective - v_group.priority)::double precision * v_group.age_step
                     else 'infinity' end;
    v_batch := array(
      select row(c.*)::millrace.lease from millrace.claim_group(
        v_group.queue_id, v_group.type_id, v_group.tenant_id, v_group.priority, v_group.mark, v_take, v_cutoff, p_owner,
        p_worker_id, p_process, p_lease, v_group.provider_id, p_alone) c);
    if v_cutoff = 'infinity' and cardinality(v_batch) < v_take then
      v_dry := v_dry || v_key;
    end if;
    v_left := v_left - cardinality(v_batch);
    v_all := v_all || v_batch;
    exit when p_alone and cardinality(v_all) > 0;
  end loop;
  perform millrace.record_moves('claimed', array(select millrace.moving_of(l) from unnest(v_all) l), p_worker_id, 'Job claimed', 'ready', 'leased', null);
  return query select l.* from unnest(v_all) l;
end;
$$;
