-- millrace.narrow_partitions: where partitions are to be shorter than the one that this moment lies in, that one ends with the current step, and
-- shorter ones follow; 1 when one was narrowed, of jobs or (p_tables) of events, audit or claims. Its rows are looked through under the lock of
-- its parent, so a large one is left to end when it was to end.
create or replace function millrace.narrow_partitions(p_now timestamptz, p_step interval, p_tables text[]) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_cut timestamptz := millrace.partition_start(p_now, p_step) + p_step;
  v_part record;
  v_one record;
begin
  for v_part in
    select array['job_fact', 'job_history', 'attempt', 'job_log'] as parents, '_' || p.suffix as suffix, millrace.id_at(v_cut)::text as until
      from millrace.job_partitions() p where p.starts_at <= p_now and p.ends_at > v_cut
    union all
    select array[t.name], substr(c.relname, length(t.name) + 1), v_cut::text
      from unnest(p_tables) t(name)
      join pg_inherits i on i.inhparent = format('millrace.%I', t.name)::regclass
      join pg_class c on c.oid = i.inhrelid and c.relname ~ ('^' || t.name || '_p[0-9]+$')
      cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
     where substring(b.bound from 'FROM \(''([^'']+)''\)')::timestamptz <= p_now and substring(b.bound from 'TO \(''([^'']+)''\)')::timestamptz > v_cut
  loop
    continue when (select sum(pg_total_relation_size(to_regclass(format('millrace.%I', t || v_part.suffix)))) from unnest(v_part.parents) t) > 256 * 1024 * 1024;
    for v_one in
      select t.name as parent, c.relname as name, substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''([^'']+)''\)') as since
        from unnest(v_part.parents) t(name) join pg_class c on c.oid = to_regclass(format('millrace.%I', t.name || v_part.suffix))
    loop
      execute format('alter table millrace.%I detach partition millrace.%I', v_one.parent, v_one.name);
      execute format('alter table millrace.%I attach partition millrace.%I for values from (%L) to (%L)', v_one.parent, v_one.name, v_one.since, v_part.until);
    end loop;
    return 1;
  end loop;
  return 0;
exception when lock_not_available or deadlock_detected or check_violation then
  -- Later: somebody holds a lock, or there are rows of a time to come.
  raise notice 'partition not narrowed: %', sqlerrm;
  return 0;
end;
$$;
