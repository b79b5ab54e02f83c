-- millrace.cron_next: the first instant after p_after at which a cron expression is due, by the
-- clocks of a time zone. MR012 when the expression or the zone is not valid, or nothing is due
-- within 8 years.
-- Where clocks go forward, times that do not exist fall on the first instant after the gap, once.
-- Where they go back, a repeated time runs at its first pass only, unless the schedule means every
-- hour or has a minute field beginning with * (see millrace.cron_parse): then it runs in both, as
-- its interval says.
create or replace function millrace.cron_next(p_schedule text, p_after timestamptz,
                                              p_time_zone text default 'UTC')
  returns timestamptz language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c record;
  v_from timestamptz := p_after;
  v_to timestamptz;
  v_before interval;
  v_after interval;
  v_earlier interval;
  v_change timestamptz;
  v_local timestamp;
  v_match timestamp;
  v_due timestamptz;
  v_end timestamp;
begin
  select r.* into c from millrace.cron_parse(p_schedule) r;
  perform millrace.check_time_zone(p_time_zone);
  if p_after is null or not isfinite(p_after) then
    raise exception 'p_after must be a finite time' using errcode = 'MR012';
  end if;
  v_end := (p_after at time zone 'UTC') + interval '8 years 2 days';
  loop
    -- At most one change of the clocks falls into a stretch of two days.
    v_to := v_from + interval '50 hours';
    v_before := millrace.zone_offset(v_from, p_time_zone);
    v_after := millrace.zone_offset(v_to, p_time_zone);
    v_local := (v_from at time zone 'UTC') + v_before + interval '1 microsecond';
    v_earlier := millrace.zone_offset(v_from - interval '25 hours', p_time_zone);
    if v_earlier > v_before and not c.every then
      -- The clocks were set back a moment ago: what has passed once is done.
      v_change := millrace.zone_change(v_from - interval '25 hours', v_from, p_time_zone);
      v_local := greatest(v_local, (v_change at time zone 'UTC') + v_earlier);
    end if;
    if v_before <> v_after then
      v_change := millrace.zone_change(v_from, v_to, p_time_zone);
      v_match := millrace.cron_match(v_local, v_end, c.seconds, c.minutes, c.hours, c.days,
                                     c.months, c.weekdays, c.either_day);
      if v_match < (v_change at time zone 'UTC') + v_before then
        return (v_match - v_before) at time zone 'UTC';
      elsif v_match < (v_change at time zone 'UTC') + v_after then
        return v_change;
      end if;
      v_local := (v_change at time zone 'UTC')
                 + case when c.every then v_after else greatest(v_before, v_after) end;
    end if;
    v_match := millrace.cron_match(v_local, v_end, c.seconds, c.minutes, c.hours, c.days,
                                   c.months, c.weekdays, c.either_day);
    if v_match is null then
      raise exception 'cron schedule "%" is not due within 8 years', left(p_schedule, 100)
        using errcode = 'MR012';
    end if;
    v_due := (v_match - v_after) at time zone 'UTC';
    if v_due <= v_to then
      return v_due;
    end if;
    v_from := greatest(v_to, v_due - interval '26 hours');
  end loop;
end;
$$;
