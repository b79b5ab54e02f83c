-- millrace.drop_job_partition: drops what is known of the jobs of one time range. Jobs that still live, or ended after p_keep_after,
-- are moved to the default partitions first; where they are too many the range waits.
create or replace function millrace.drop_job_partition(p_suffix text, p_keep_after timestamptz) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text;
  v_keep uuid[];
begin
  perform set_config('millrace.retention', 'on', true);
  execute format('lock table millrace.job_fact in access exclusive mode');
  execute format(
    'select array_agg(f.job_id) from millrace.%I f
      where exists (select from millrace.ready r where r.job_id = f.job_id) or exists (select from millrace.delayed d where d.job_id = f.job_id)
         or exists (select from millrace.lease l where l.job_id = f.job_id)
         or exists (select from millrace.job_history h where h.job_id = f.job_id and h.finished_at >= $1)', 'job_fact_' || p_suffix)
    into v_keep using p_keep_after;
  if cardinality(v_keep) > 50000 then
    raise notice 'partition % keeps % jobs, not dropped', p_suffix, cardinality(v_keep);
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
