-- millrace.lane_for: the lane of a queue, type, tenant and priority, made where there is none. Null while another transaction makes it
-- (nobody waits for a lane), and while its jobs are claimed one by one: the job then lies in ready.
create or replace function millrace.lane_for(p_queue_id smallint, p_type_id smallint, p_tenant uuid, p_priority smallint) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane integer;
  v_by_hand boolean;
begin
  select l.lane_id, coalesce(l.by_hand_until > millrace.now(), false) into v_lane, v_by_hand from millrace.lane l
   where l.queue_id = p_queue_id and l.type_id = p_type_id and l.tenant_id = p_tenant and l.priority = p_priority;
  if v_by_hand then
    return null;
  end if;
  if v_lane is not null or not pg_try_advisory_xact_lock(hashtextextended(concat_ws(':', p_queue_id, p_type_id, p_tenant, p_priority), 7079)) then
    return v_lane;
  end if;
  insert into millrace.lane (queue_id, type_id, tenant_id, priority) values (p_queue_id, p_type_id, p_tenant, p_priority)
  on conflict do nothing returning lane_id into v_lane;
  if found then
    insert into millrace.lane_head (lane_id, claim_no, tenant_id, lane_xid, lane_seq, late_xids, late_seqs)
    values (v_lane, 0, p_tenant, '0', 0, '{}', '{}');
  else
    select l.lane_id into v_lane from millrace.lane l
     where l.queue_id = p_queue_id and l.type_id = p_type_id and l.tenant_id = p_tenant and l.priority = p_priority;
  end if;
  return v_lane;
end;
$$;
