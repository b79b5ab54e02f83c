-- millrace.expire_waiting: jobs that were not started before their start deadline end as failed (expired); and jobs that wait for a key or
-- another job although nothing holds them back any more get their note again.
create or replace function millrace.expire_waiting(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_ready millrace.ready[];
  v_gone millrace.moving[];
begin
  v_ready := array(select row(r.*)::millrace.ready from millrace.ready r where r.start_deadline <= millrace.now()
                    order by r.start_deadline limit p_limit for update skip locked);
  perform millrace.expire_ready(v_ready);
  with s as materialized (
    select d.job_id from millrace.delayed d where d.start_deadline <= millrace.now() order by d.start_deadline limit p_limit for update skip locked),
  d as (delete from millrace.delayed x using s where x.job_id = s.job_id returning x.*)
  select array_agg(row(d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count, d.crash_count,
           d.suspect_count, d.snooze_count, d.born_at, d.start_deadline, null, null, null, null, null, 0, null, null, 'permanent', null, null,
           jsonb_build_object('error_type', 'start_deadline', 'message', 'not started before its start deadline', 'start_deadline', d.start_deadline),
           null, null, null, null, 'expired', null, null)::millrace.moving) into v_gone from d;
  perform millrace.settle_core(v_gone, null, 'delayed');
  perform millrace.recheck_blocked(p_limit);
  return cardinality(v_ready) + coalesce(cardinality(v_gone), 0);
end;
$$;
