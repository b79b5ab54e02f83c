-- millrace.event_start: the position of a reader that begins: behind it lie the last p_back events (0: none), or as many as there are but one. So a
-- server that has just started can tell those who were away for a moment from memory what they missed. All before it counts as read, except
-- for what transactions in late_xids may still commit.
create or replace function millrace.event_start(p_back integer) returns table (xid xid8, seq bigint, late_xids xid8[])
  language plpgsql stable rows 1 security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_now pg_snapshot := pg_current_snapshot();
  v_back integer := least(coalesce(p_back, 0), 10000);
  v_floor xid8 := (select f.xid from millrace.event_floor f);
  v_xid xid8;
  v_seq bigint;
begin
  if v_back > 0 then
    -- What retention has begun to remove is not begun with: a reader there would be told that it is too old.
    select e.xid, e.event_id into v_xid, v_seq from millrace.event e where e.xid > v_floor order by e.xid desc, e.event_id desc offset v_back limit 1;
    if v_xid is null then
      select e.xid, e.event_id into v_xid, v_seq from millrace.event e where e.xid > v_floor order by e.xid, e.event_id limit 1;
    end if;
  end if;
  if v_xid is null then
    return query select t.xid, t.seq, t.late_xids from millrace.event_tail() t;
    return;
  end if;
  xid := v_xid;
  seq := v_seq;
  late_xids := array(select x from pg_snapshot_xip(v_now) x where x < v_xid order by x);
  return next;
end;
$$;
