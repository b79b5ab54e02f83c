-- millrace.event_tail: the position behind all that is committed now: every transaction before it has ended, except those in late_xids.
create or replace function millrace.event_tail() returns table (xid xid8, seq bigint, late_xids xid8[])
  language plpgsql stable rows 1 security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now pg_snapshot := pg_current_snapshot();
begin
  -- xmax is the first transaction that had not begun.
  xid := (pg_snapshot_xmax(v_now)::text::numeric - 1)::text::xid8;
  seq := 9223372036854775807;
  late_xids := array(select x from pg_snapshot_xip(v_now) x order by x);
  return next;
end;
$$;
