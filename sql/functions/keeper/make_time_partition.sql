-- millrace.make_time_partition: a partition of events, audit or claims for [p_from, p_to).
create or replace function millrace.make_time_partition(p_table text, p_from timestamptz, p_to timestamptz) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  -- By the day where that tells it.
  v_name text := p_table || '_p' || to_char(p_from at time zone 'UTC', case when date_trunc('day', p_from at time zone 'UTC') = p_from at time zone 'UTC'
                                                                             then 'YYYYMMDD' else 'YYYYMMDDHH24MI' end);
begin
  if to_regclass(format('millrace.%I', v_name)) is not null then
    return 0;
  end if;
  execute format('create table millrace.%I partition of millrace.%I for values from (%L) to (%L)', v_name, p_table, p_from, p_to);
  execute format('alter table millrace.%I enable row level security', v_name);
  perform millrace.spare_statistics(format('millrace.%I', v_name)::regclass);
  return 1;
exception when check_violation or invalid_object_definition or lock_not_available then
  raise notice 'partition % not made: %', v_name, sqlerrm;
  return 0;
end;
$$;
