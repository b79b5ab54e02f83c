-- millrace.make_job_partition: the next missing partition of facts, history, attempts or logs for the ids made in [p_from, p_to): 1 when one was
-- made, 0 when nothing was missing or a lock could not be had.
create or replace function millrace.make_job_partition(p_from timestamptz, p_to timestamptz) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_suffix text := 'p' || to_char(p_from at time zone 'UTC', 'YYYYMMDDHH24MI');
  v_table text;
begin
  foreach v_table in array array['job_fact', 'job_history', 'attempt', 'job_log'] loop
    if to_regclass(format('millrace.%I', v_table || '_' || v_suffix)) is null then
      begin
        execute format('create table millrace.%I partition of millrace.%I for values from (%L) to (%L)',
                       v_table || '_' || v_suffix, v_table, millrace.id_at(p_from), millrace.id_at(p_to));
        -- Reached through its parent, whose policies apply; directly by nobody but the owner.
        execute format('alter table millrace.%I enable row level security', v_table || '_' || v_suffix);
        perform millrace.spare_statistics(format('millrace.%I', v_table || '_' || v_suffix)::regclass);
        return 1;
      exception when check_violation or invalid_object_definition or lock_not_available then
        -- Rows of that time are in the default partition already, or another cut overlaps: the default serves.
        raise notice 'partition % of % not made: %', v_suffix, v_table, sqlerrm;
      end;
    end if;
  end loop;
  return 0;
end;
$$;
