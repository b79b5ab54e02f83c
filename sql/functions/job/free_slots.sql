-- millrace.free_slots: locks up to p_limit free slots of a queue. A slot is free when the lease it was given to is gone, so a dead
-- worker's slot frees itself with its lease. Slots that others are taking are skipped. What was started under another limit, or under
-- none, holds no slot of this one and counts all the same.
create or replace function millrace.free_slots(p_queue_id smallint, p_max integer, p_limit integer) returns integer[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked integer[];
  v_room integer;
begin
  if (select count(*) from millrace.queue_slot s where s.queue_id = p_queue_id and s.slot_no <= p_max) < p_max then
    insert into millrace.queue_slot (queue_id, slot_no) select p_queue_id, n from generate_series(1, p_max) n on conflict do nothing;
  end if;
  v_locked := array(
    select s.slot_no from millrace.queue_slot s
     where s.queue_id = p_queue_id and s.slot_no <= p_max
       and not exists (select from millrace.lease l where l.job_id = s.job_id and l.token = s.token)
     order by s.slot_no limit p_limit for update of s skip locked);
  if cardinality(v_locked) = 0 then
    return v_locked;
  end if;
  -- Only until those without a slot have ended: they are no more than they were when the limit changed.
  -- Counted, each list for itself: to look for the slot of each would take as long as their product.
  if (select count(*) from millrace.lease l where l.queue_id = p_queue_id)
     > (select count(*) filter (where exists (select from millrace.lease l where l.job_id = s.job_id and l.token = s.token))
          from millrace.queue_slot s where s.queue_id = p_queue_id and s.slot_no <= p_max)
     or exists (select from millrace.claim_open o where o.queue_id = p_queue_id) then
    -- One counts at a time, or two would find the same room.
    perform from millrace.queue_slot s where s.queue_id = p_queue_id and s.slot_no = 1 for update skip locked;
    if not found then
      return '{}';
    end if;
    v_room := greatest(0, p_max - (select count(*) from millrace.lease l where l.queue_id = p_queue_id)
                                - (select coalesce(sum(bit_count(o.held)), 0) from millrace.claim_open o where o.queue_id = p_queue_id));
  end if;
  -- Looked at again under the lock: a slot that was given away after the first look began has a lease it could not see.
  return array(
    select s.slot_no from millrace.queue_slot s
     where s.queue_id = p_queue_id and s.slot_no = any (v_locked)
       and not exists (select from millrace.lease l where l.job_id = s.job_id and l.token = s.token)
     order by s.slot_no limit v_room);
end;
$$;
