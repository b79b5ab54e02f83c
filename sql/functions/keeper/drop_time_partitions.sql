-- millrace.drop_time_partitions: drops the oldest partition of events, audit or claims that ended before p_before; 1 when one was dropped.
create or replace function millrace.drop_time_partitions(p_table text, p_before timestamptz) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_part record;
begin
  for v_part in
    select c.relname, b.ends_at from pg_class c join pg_inherits i on i.inhrelid = c.oid
      cross join lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz as ends_at) b
     where i.inhparent = format('millrace.%I', p_table)::regclass and c.relname ~ ('^' || p_table || '_p[0-9]+$') and b.ends_at < p_before
     order by b.ends_at
  loop
    if p_table = 'event' then
      -- Whoever read no further than this has missed something.
      execute format('update millrace.event_floor f set xid = e.xid from (select x.xid from millrace.%I x order by x.xid desc limit 1) e where e.xid > f.xid', v_part.relname);
    elsif p_table = 'audit' then
      -- Its seals may go, and their rows are not missed.
      update millrace.audit_floor f set dropped_before = greatest(f.dropped_before, v_part.ends_at) where f.only_row;
    end if;
    execute format('drop table millrace.%I', v_part.relname);
    return 1;
  end loop;
  return 0;
exception when lock_not_available then
  raise notice 'partitions of % not dropped: %', p_table, sqlerrm;
  return 0;
end;
$$;
