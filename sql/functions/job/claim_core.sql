-- millrace.claim_core: hands out up to p_limit jobs, group by group as millrace.claim_order says. Types whose provider has no room are not
-- looked at. p_process is the nonce of a worker process, or null for a lease timed by itself (p_lease). p_ranges: whether the caller can
-- be given stretches of a lane (p_bare: also without their lines, see millrace.claim_lines); for others, and where a limit has to be looked at job by job, the lane's next jobs go to ready first.
-- Fence: each lease gets a new random token. Running it twice hands out more jobs; an answer that was lost is
-- repaired by way of millrace.unheld_leases or by the lease.
create or replace function millrace.claim_core(
    p_worker_id text, p_process uuid, p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_owner uuid, p_limit integer,
    p_lease interval, p_take_capacity boolean, p_marks jsonb, p_alone boolean, p_ranges boolean, p_bare boolean)
  returns setof millrace.delivery language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_group record;
  v_take integer;
  v_got integer;
  v_left integer := p_limit;
  v_batch millrace.lease[];
  v_all millrace.lease[] := '{}';
  v_tenants uuid[] := '{}';
  v_served integer[] := '{}';
  v_at integer;
  v_closed integer[] := '{}';
  v_locked integer[] := '{}';
  v_dry text[] := '{}';
  v_key text;
  v_cutoff timestamptz;
  v_busy integer;
  v_claim millrace.delivery;
  v_patience text;
  v_lanes integer[];
  v_alone_lane boolean;
  v_shut integer;
  v_turn bigint;
  v_has_turn boolean := false;
  v_requests integer;
  v_tokens bigint;
begin
  for v_try in 1 .. 2 loop
    -- Most queues have one lane and nothing beside it: no order to be found. Who was in line for it looks again.
    if p_ranges and p_owner is null and not p_alone and (v_try = 1 or v_alone_lane) then
      select case when not exists (select from millrace.ready r where r.queue_id = any (p_queue_ids)) then array(
               select case when q.concurrency_max is null and t.provider_name is null then l.lane_id end
                 from millrace.lane l join millrace.queue q on q.queue_id = l.queue_id join millrace.job_type t on t.type_id = l.type_id
                where l.queue_id = any (p_queue_ids) and (p_type_ids is null or l.type_id = any (p_type_ids))
                  and (p_tenant is null or l.tenant_id = p_tenant) and q.paused_at is null
                  and (p_marks is null or v_try = 2 or p_marks ? ('lane:' || l.lane_id))
                limit 2) end into v_lanes;
      if p_limit = 0 then
        v_lanes := '{0}';
      elsif cardinality(v_lanes) = 0 then
        return;
      end if;
    end if;
    v_alone_lane := coalesce(cardinality(v_lanes) = 1 and v_lanes[1] is not null, false);
    if v_alone_lane then
      if pg_try_advisory_xact_lock(7080, v_lanes[1]) then
        v_claim := millrace.claim_lane(v_lanes[1], greatest(p_limit, 1), 'infinity', p_worker_id, p_process, false, null, true);
        if v_claim.token is not null then
          return next v_claim;
          return;
        end if;
        -- Nothing in it, or somebody moves its jobs one by one.
        v_busy := (select l.lane_id from millrace.lane_groups(p_queue_ids, null, null, v_lanes) l);
      else
        v_busy := v_lanes[1];
      end if;
      if p_limit = 0 and v_try = 1 then
        perform from millrace.claim_order(p_queue_ids, p_type_ids, p_tenant, 1, p_take_capacity, null, false);
        v_busy := 0;  -- The way of those who have to stand in line is planned, too.
      end if;
    else
      for v_group in
        select * from millrace.claim_order(p_queue_ids, p_type_ids, p_tenant, p_limit, p_take_capacity, case when v_try = 1 then p_marks end, p_alone)
      loop
        exit when v_left <= 0;
        v_key := concat_ws(':', v_group.queue_id, v_group.type_id, v_group.tenant_id, v_group.priority, v_group.mark, v_group.lane_id);
        -- An owner's jobs are never in a lane.
        continue when v_group.lane_id is not null and p_owner is not null;
        continue when v_group.provider_id = any (v_closed) or v_key = any (v_dry);
        if v_group.provider_id is not null and not v_group.provider_id = any (v_locked) then
          perform from millrace.api_rate_limits p where p.provider_id = v_group.provider_id for no key update skip locked;
          if not found then
            v_closed := v_closed || v_group.provider_id;
            v_shut := coalesce(v_shut, v_group.provider_id);
            continue;
          end if;
          v_locked := v_locked || v_group.provider_id;
        end if;
        v_at := array_position(v_tenants, v_group.tenant_id);
        if v_at is null then
          v_tenants := v_tenants || v_group.tenant_id;
          v_served := v_served || 0;
          v_at := cardinality(v_tenants);
        end if;
        v_take := least(v_left, case when v_group.round = 1 then v_group.quota - v_served[v_at] else v_left end);
        continue when v_take <= 0;
        -- Younger jobs of an aged group must not overtake the next group: they are cut off where its head would win.
        v_cutoff := case when v_group.round = 1 and v_group.age_step is not null and v_group.next_effective > v_group.priority
                         then millrace.now() - (v_group.next_effective - v_group.priority)::double precision * v_group.age_step
                         else 'infinity' end;
        if v_group.lane_id is not null and p_ranges and v_group.plain then
          if v_group.provider_id is not null then
            select r.requests, r.tokens into v_requests, v_tokens from millrace.capacity_room(v_group.provider_id) r;
            v_take := least(v_take, v_requests);
            -- A limit of tokens that came since the order was made is obeyed by the next claim.
            if v_take <= 0 or v_tokens < 9223372036854775807 then
              v_closed := v_closed || v_group.provider_id;
              continue;
            end if;
          end if;
          v_claim := millrace.claim_lane(v_group.lane_id, v_take, v_cutoff, p_worker_id, p_process, false, v_group.provider_id, true);
          v_got := 0;
          if v_claim.token is not null then
            return next v_claim;
            v_got := millrace.claim_size(v_claim.token);
          end if;
          v_busy := coalesce(v_busy, case when v_got = 0 and v_group.provider_id is null then v_group.lane_id end);
        else
          if v_group.lane_id is not null then
            perform millrace.spill_lane(v_group.lane_id, v_take);
          end if;
          -- Jobs with keys are best claimed by one at a time: two would be in each other's way at nearly every key. One who stays for
          -- long does not keep the others from what has other keys, or none.
          if v_try = 1 and exists (select from (select r.flags from millrace.ready r
                                   where r.queue_id = v_group.queue_id and r.type_id = v_group.type_id and r.tenant_id = v_group.tenant_id
                                     and r.priority = v_group.priority and r.ready_seq > v_group.mark order by r.ready_seq limit 1) h
                      where h.flags & 2 <> 0 or (h.flags & 4 <> 0 and exists (select from millrace.queue q where q.queue_id = v_group.queue_id and q.key_concurrency_max is not null))) then
            if not pg_try_advisory_xact_lock(millrace.turn_lock(v_group.queue_id, v_group.type_id, v_group.tenant_id, v_group.priority)) then
              v_turn := coalesce(v_turn, millrace.turn_lock(v_group.queue_id, v_group.type_id, v_group.tenant_id, v_group.priority));
              v_dry := v_dry || v_key;
              continue;
            end if;
            v_has_turn := true;
          end if;
          v_batch := array(
            select row(c.*)::millrace.lease from millrace.claim_group(
              v_group.queue_id, v_group.type_id, v_group.tenant_id, v_group.priority, v_group.mark, v_take, v_cutoff, p_owner,
              p_worker_id, p_process, p_lease, v_group.provider_id, p_alone) c);
          -- In a statement of its own: one that began before a job was committed can lease it, but not join its fact.
          return query select d.* from millrace.deliveries_of(v_batch) d;
          v_got := cardinality(v_batch);
          v_all := v_all || v_batch;
        end if;
        if v_cutoff = 'infinity' and v_got < v_take then
          v_dry := v_dry || v_key;
        end if;
        v_left := v_left - v_got;
        v_served[v_at] := v_served[v_at] + v_got;
        exit when p_alone and v_got > 0;
      end loop;
    end if;
    -- Nothing but lanes, providers or keys that others were claiming from: in line for one of them, but with a look now and then at what
    -- else has come. Providers are locked in the order of their ids, as everywhere.
    exit when v_left < p_limit or (v_busy is null and v_shut is null and v_turn is null);
    exit when v_busy is null and (v_try = 2 or not v_shut > all (v_locked));
    begin
      v_patience := current_setting('lock_timeout');
      perform set_config('lock_timeout', '600ms', true);
      if v_busy is not null then
        -- Others stand behind: what can wait until the lane is theirs is left for then.
        v_claim := millrace.claim_lane(v_busy, p_limit, 'infinity', p_worker_id, p_process, true, null, not p_bare or p_limit < 100);
      elsif v_shut is not null then
        perform from millrace.api_rate_limits p where p.provider_id = v_shut for no key update;
        v_locked := v_locked || v_shut;
      elsif cardinality(v_locked) = 0 and not v_has_turn then
        perform pg_advisory_xact_lock(v_turn);
      end if;
      perform set_config('lock_timeout', v_patience, true);
      if v_claim.token is not null then
        return next v_claim;
        exit;
      end if;
    exception when lock_not_available then
      null;  -- Somebody holds it for long; others may have work.
    end;
    v_busy := null;
    v_shut := null;
    v_turn := null;
    v_dry := '{}';
    v_closed := '{}';
  end loop;
  perform millrace.record_moves('claimed', array(select millrace.moving_of(l) from unnest(v_all) l), p_worker_id, 'Job claimed', 'ready', 'leased', null);
end;
$$;
