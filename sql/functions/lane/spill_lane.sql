-- millrace.spill_lane: moves up to p_limit jobs from the head of a lane to ready, for those who claim job by job. Nothing while another
-- reads the lane. New jobs lie in ready from now on, for as long as somebody claims so: there, one who leaves his transaction open
-- holds up nobody.
create or replace function millrace.spill_lane(p_lane_id integer, p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_count integer;
begin
  -- Whoever holds the row sets the same time.
  update millrace.lane l set by_hand_until = millrace.now() + interval '1 hour'
    from (select o.lane_id from millrace.lane o where o.lane_id = p_lane_id and coalesce(o.by_hand_until < millrace.now() + interval '30 minutes', true)
             for no key update skip locked) s
   where l.lane_id = s.lane_id;
  -- Before the statement that joins their facts: it must see them.
  v_ids := array(select u from millrace.read_lane(p_lane_id, p_limit, 'infinity', false, false, false) r cross join lateral unnest(r.job_ids) u);
  insert into millrace.ready (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, ready_at)
  select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.flags, 1, 0, 0, 0, 0, 0, f.created_at, f.created_at
    from unnest(v_ids) with ordinality u(job_id, n) join millrace.job_fact f on f.job_id = u.job_id
   order by u.n;
  get diagnostics v_count = row_count;
  -- Jobs of this very transaction are not read from the lane, but whoever enqueued them here may claim them here.
  if v_count = 0 then
    perform millrace.unfold(array(
      select f.job_id from millrace.job_fact f
       where f.lane_id = p_lane_id and f.lane_xid = pg_current_xact_id_if_assigned() order by f.seq limit p_limit));
  end if;
  return v_count;
end;
$$;
