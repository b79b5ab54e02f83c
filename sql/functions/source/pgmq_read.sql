-- millrace.pgmq_read: hands out up to p_qty messages and hides them for p_vt seconds; one that is not deleted or archived by then can be read again. read_ct counts how
-- often it was. Messages whose time is up are brought back first, so that nobody waits for the keeper; where that has been quicker, they come back within its jitter
-- (worker.reclaim_jitter_max_seconds).
create or replace function millrace.pgmq_read(p_queue_name text, p_vt integer default 30, p_qty integer default 1) returns setof millrace.message_record
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_type smallint := millrace.pgmq_type(p_queue_name);
  v_queue smallint := (select t.queue_id from millrace.job_type t where t.type_id = v_type);
  v_got millrace.delivery[];
begin
  if p_vt is null or p_vt not between 1 and 604800 or p_qty is null or p_qty not between 1 and 1000 then
    raise exception 'p_vt must be 1 to 604800 seconds and p_qty 1 to 1000' using errcode = 'MR024';
  end if;
  perform millrace.reclaim_leases(array(
    select l.job_id from millrace.lease l where l.queue_id = v_queue and l.lease_until < millrace.now() order by l.job_id limit 100 for update skip locked), 'worker_timeout', false, true);
  perform millrace.promote_rows(array(
    select d.job_id from millrace.delayed d where d.queue_id = v_queue and d.due_at <= millrace.now() order by d.due_at, d.job_id limit 100 for update skip locked));
  if millrace.keeper_is_stale() then
    perform millrace.keep_a_little();
  end if;
  -- In a statement of its own: the next one sees the leases.
  v_got := array(select row(d.*)::millrace.delivery
    from millrace.claim_core('pgmq-' || gen_random_uuid(), null, array[v_queue], array[v_type], millrace.tenant_scope(), null, p_qty, make_interval(secs => p_vt), false, null,
                             false, false, false) d);
  return query
  select m.msg_id, d.delivery_count, m.enqueued_at, l.lease_until, d.payload -> 'message'
    from unnest(v_got) d join millrace.message m on m.job_id = d.job_id join millrace.lease l on l.job_id = d.job_id
   order by m.msg_id;
end;
$$;
