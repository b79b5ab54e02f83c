-- millrace.unfold: gives jobs that are known only by their lane a place of their own: a waiting one goes to ready, one held under a claim
-- gets a lease. So whoever acts on single jobs (cancel, reschedule) finds them where jobs lie. Others are left alone.
-- Lanes are locked in order before anything else: their claimers wait for nobody.
create or replace function millrace.unfold(p_job_ids uuid[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_lane integer;
begin
  v_ids := array(
    select f.job_id from millrace.job_fact f cross join lateral millrace.lane_state(f.job_id) s
     where f.job_id = any (p_job_ids) and f.lane_id is not null and s.state <> 'completed');
  if cardinality(v_ids) = 0 then
    return;
  end if;
  for v_lane in select distinct f.lane_id from millrace.job_fact f where f.job_id = any (v_ids) order by f.lane_id loop
    perform from millrace.lane_head h where h.lane_id = v_lane order by h.claim_no desc limit 1 for update;
  end loop;
  perform millrace.pin_claimed(null, array_agg(f.job_id), array_agg(millrace.claim_token(c.claim_id, c.position)))
     from millrace.job_fact f cross join lateral millrace.find_claim(f.lane_id, f.seq, f.job_id, f.created_at) c where f.job_id = any (v_ids);
  with f as materialized (
    select f.* from millrace.job_fact f where f.job_id = any (v_ids) and exists (select from millrace.lane_state(f.job_id) s where s.state = 'ready')),
  g as (
    insert into millrace.lane_gap (lane_id, lane_xid, seq, tenant_id) select f.lane_id, f.lane_xid, f.seq, f.tenant_id from f)
  insert into millrace.ready (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, ready_at)
  select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.flags, 1, 0, 0, 0, 0, 0, f.created_at, f.created_at from f order by f.seq;
end;
$$;
