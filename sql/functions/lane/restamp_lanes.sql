-- millrace.restamp_lanes: after a restore from another server: jobs that wait in lanes with foreign transaction ids go to ready, and the
-- lanes are given up; new ones take their place with the next job. Answers lanes and jobs. Idempotent: what is in order is left alone.
create or replace function millrace.restamp_lanes() returns table (lanes integer, jobs bigint)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_lanes integer[] := array(select s from millrace.stamps_ahead() s);
begin
  perform from millrace.lane_head h where h.lane_id = any (v_lanes) order by h.lane_id for update;
  -- Whatever no claim and no other place knows: also what was enqueued here before this call.
  with claimed as materialized (
    select u.job_id from millrace.claim c cross join lateral unnest(c.job_ids) u(job_id) where c.lane_id = any (v_lanes))
  insert into millrace.ready (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, ready_at)
  select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.flags, 1, 0, 0, 0, 0, 0, f.created_at, f.created_at
    from millrace.job_fact f
   where f.lane_id = any (v_lanes)
     and not exists (select from claimed c where c.job_id = f.job_id)
     and not exists (select from millrace.ready r where r.job_id = f.job_id)
     and not exists (select from millrace.delayed d where d.job_id = f.job_id)
     and not exists (select from millrace.lease l where l.job_id = f.job_id)
     and not exists (select from millrace.job_history h where h.job_id = f.job_id)
   order by f.created_at, f.seq;
  get diagnostics jobs = row_count;
  delete from millrace.lane_gap g where g.lane_id = any (v_lanes);
  delete from millrace.lane_head h where h.lane_id = any (v_lanes);
  delete from millrace.lane l where l.lane_id = any (v_lanes);
  lanes := cardinality(v_lanes);
  return next;
end;
$$;
