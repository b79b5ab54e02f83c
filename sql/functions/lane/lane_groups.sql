-- millrace.lane_groups: the lanes that have jobs to claim, with the age of their head. p_lanes: only these (null: all of the queues).
-- Each lane is asked for its next job behind its head, so the cost is the number of lanes, not of jobs; tenants whose counters show
-- nothing ready are passed over. A count that is wrong is put right by the keeper.
create or replace function millrace.lane_groups(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_lanes integer[])
  returns table (queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, lane_id integer, ready_at timestamptz)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select l.queue_id, l.type_id, l.tenant_id, l.priority, l.lane_id, n.created_at
    from millrace.lane l
    join millrace.queue q on q.queue_id = l.queue_id and q.paused_at is null
    cross join lateral (
      select h.lane_xid, h.lane_seq, h.late_xids, h.late_seqs from millrace.lane_head h
       where h.lane_id = l.lane_id order by h.claim_no desc limit 1) h
    cross join lateral (
      select f.created_at from (
        (select f.created_at from millrace.job_fact f
          where f.lane_id = l.lane_id and (f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq) order by f.lane_xid, f.seq limit 1)
        union all
        (select f.created_at from unnest(h.late_xids, h.late_seqs) u(x, s)
          cross join lateral (select f.created_at from millrace.job_fact f
                               where f.lane_id = l.lane_id and f.lane_xid = u.x and f.seq > u.s order by f.seq limit 1) f)) f
       order by f.created_at limit 1) n
   where (p_queue_ids is null or l.queue_id = any (p_queue_ids))
     and (p_type_ids is null or l.type_id = any (p_type_ids))
     and (p_tenant is null or l.tenant_id = p_tenant)
     and (p_lanes is null or l.lane_id = any (p_lanes));
end;
$$;
