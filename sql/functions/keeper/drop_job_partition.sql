-- millrace.drop_job_partition: drops what is known of the jobs of one time range. Jobs that still live, or ended after p_keep_after,
-- are moved to the default partitions first; where they are too many the range waits.
create or replace function millrace.drop_job_partition(p_suffix text, p_keep_after timestamptz) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text;
  v_fresh uuid[];
  v_keep uuid[];
begin
  perform set_config('millrace.retention', 'on', true);
  execute format('lock table millrace.job_fact in access exclusive mode');
  -- What only its lane knows gets a place of its own.
  execute format(
    'select array(select f.job_id from millrace.%1$I f join millrace.lane_waiting w on w.job_id = f.job_id
                  union all select f.job_id from millrace.%1$I f join millrace.lane_held h on h.job_id = f.job_id limit 50001)', 'job_fact_' || p_suffix)
    into v_fresh;
  if cardinality(v_fresh) <= 50000 then
    perform millrace.unfold(v_fresh);
    execute format(
      'select array(
         select f.job_id from millrace.%1$I f
          where exists (select from millrace.ready r where r.job_id = f.job_id) or exists (select from millrace.delayed d where d.job_id = f.job_id)
             or exists (select from millrace.lease l where l.job_id = f.job_id)
             or exists (select from millrace.job_history h where h.job_id = f.job_id and h.finished_at >= $1)
         union
         select f.job_id from (select min(x.seq) as low, max(x.seq) as high from millrace.%1$I x) s
          join millrace.claim c on c.span && box(point(''-infinity'', s.low), point(''infinity'', s.high))
          join millrace.claim_done d on d.claim_id = c.claim_id and d.at >= $1
          cross join lateral unnest(c.job_ids) with ordinality u(job_id, n)
          join millrace.%1$I f on f.job_id = u.job_id
          where get_bit(d.done, (u.n - 1)::integer) = 1
         limit 50001)', 'job_fact_' || p_suffix)
      into v_keep using p_keep_after;
  end if;
  if coalesce(cardinality(v_keep), 50001) > 50000 then
    raise notice 'partition % keeps more than 50000 jobs, not dropped', p_suffix;
    return 0;
  end if;
  foreach v_table in array array['job_fact', 'job_history', 'attempt', 'job_log'] loop
    continue when to_regclass(format('millrace.%I', v_table || '_' || p_suffix)) is null;
    execute format('alter table millrace.%I detach partition millrace.%I', v_table, v_table || '_' || p_suffix);
    execute format('insert into millrace.%I select x.* from millrace.%I x where x.job_id = any ($1)', v_table, v_table || '_' || p_suffix) using v_keep;
    execute format('drop table millrace.%I', v_table || '_' || p_suffix);
  end loop;
  perform set_config('millrace.retention', '', true);
  return 1;
exception when lock_not_available or deadlock_detected then
  raise notice 'partition % not dropped: %', p_suffix, sqlerrm;
  return 0;
end;
$$;
