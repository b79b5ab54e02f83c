-- Lost jobs come back sooner, and nobody waits for tables that are cut short and grow again at once: to cut them, vacuum keeps everybody
-- out. Lock cost: all of queue, for an instant, at the end. compat: rolling

do $$
declare
  v_name text;
begin
  foreach v_name in array '{ready,delayed,lease,claim_open,lane_head,lane_gap,handoff,counter_delta,counter,worker,wake,serial_member,process_death}'::text[] loop
    execute format('alter table millrace.%I set (vacuum_truncate = false)', v_name);
  end loop;
end;
$$;

-- Where nobody chose another time than the one it was made with.
update millrace.queue set reclaim_jitter = interval '100 milliseconds' where reclaim_jitter = interval '500 milliseconds';
alter table millrace.queue alter column reclaim_jitter set default interval '100 milliseconds';
