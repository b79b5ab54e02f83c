-- millrace.cron_parse: a cron expression as sets of values: 5 fields (minute, hour, day of month,
-- month, day of week), 6 with seconds first, or @hourly @daily @weekly @monthly @yearly. Raises
-- MR012.
-- either_day: both day fields are restricted, so a day matches when one of them does; a field that
-- begins with * is not restricted. every: the minute field begins with * or all hours are meant, so
-- the schedule is one of intervals and runs again in an hour that the clock repeats.
create or replace function millrace.cron_parse(
    p_schedule text, out seconds integer[], out minutes integer[], out hours integer[],
    out days integer[], out months integer[], out weekdays integer[],
    out either_day boolean, out every boolean)
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := lower(btrim(regexp_replace(coalesce(p_schedule, ''), '\s+', ' ', 'g')));
  v_fields text[];
begin
  if v_text = '' or length(v_text) > 500 then
    raise exception 'cron schedule must have 1 to 500 characters' using errcode = 'MR012';
  end if;
  if v_text like '@%' then
    v_fields := string_to_array(case v_text
      when '@hourly' then '0 0 * * * *'
      when '@daily' then '0 0 0 * * *'
      when '@midnight' then '0 0 0 * * *'
      when '@weekly' then '0 0 0 * * 0'
      when '@monthly' then '0 0 0 1 * *'
      when '@yearly' then '0 0 0 1 1 *'
      when '@annually' then '0 0 0 1 1 *' end, ' ');
    if v_fields is null then
      raise exception 'cron schedule "%" is not known', left(v_text, 100)
        using errcode = 'MR012', hint = '@hourly, @daily, @weekly, @monthly or @yearly';
    end if;
  else
    v_fields := string_to_array(v_text, ' ');
    if cardinality(v_fields) = 5 then
      v_fields := '{0}'::text[] || v_fields;
    elsif cardinality(v_fields) <> 6 then
      raise exception 'cron schedule must have 5 fields, or 6 with seconds first, not %',
        cardinality(v_fields)
        using errcode = 'MR012', hint = 'minute hour day-of-month month day-of-week';
    end if;
  end if;
  seconds := millrace.cron_field('second', v_fields[1], 0, 59, null);
  minutes := millrace.cron_field('minute', v_fields[2], 0, 59, null);
  hours := millrace.cron_field('hour', v_fields[3], 0, 23, null);
  days := millrace.cron_field('day of month', v_fields[4], 1, 31, null);
  months := millrace.cron_field('month', v_fields[5], 1, 12,
    '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}');
  weekdays := millrace.cron_field('day of week', v_fields[6], 0, 7,
                                  '{sun,mon,tue,wed,thu,fri,sat}');
  either_day := v_fields[4] not like '*%' and v_fields[6] not like '*%';
  every := v_fields[2] like '*%' or cardinality(hours) = 24;
end;
$$;
