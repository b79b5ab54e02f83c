-- millrace.cron_match: the first wall-clock time at or after p_from that the fields name, or null
-- when there is none before p_end. Knows nothing of time zones.
create or replace function millrace.cron_match(
    p_from timestamp, p_end timestamp, p_seconds integer[], p_minutes integer[], p_hours integer[],
    p_days integer[], p_months integer[], p_weekdays integer[], p_either_day boolean)
  returns timestamp language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  -- Whole seconds only: what lies within a second belongs to the next one.
  v_start timestamp := date_trunc('second', p_from + interval '999999 microseconds');
  v_day date := v_start::date;
  v_hour integer := extract(hour from v_start);
  v_minute integer := extract(minute from v_start);
  v_second integer := extract(second from v_start);
  v_found integer[];
  v_dom boolean;
  v_dow boolean;
begin
  while v_day <= p_end loop
    if not extract(month from v_day)::integer = any (p_months) then
      v_day := (date_trunc('month', v_day::timestamp) + interval '1 month')::date;
    else
      v_dom := extract(day from v_day)::integer = any (p_days);
      v_dow := extract(dow from v_day)::integer = any (p_weekdays);
      if (v_dom and v_dow) or (p_either_day and (v_dom or v_dow)) then
        if v_day > v_start::date then
          return v_day + make_interval(hours => p_hours[1], mins => p_minutes[1],
                                       secs => p_seconds[1]);
        end if;
        select array[h.v, m.v, s.v] into v_found
          from unnest(p_hours) h(v)
          cross join lateral (select u.v from unnest(p_minutes) u(v)
                               where h.v > v_hour or u.v > v_minute
                                  or (u.v = v_minute
                                      and v_second <= p_seconds[cardinality(p_seconds)])
                               order by u.v limit 1) m
          cross join lateral (select u.v from unnest(p_seconds) u(v)
                               where h.v > v_hour or m.v > v_minute or u.v >= v_second
                               order by u.v limit 1) s
         where h.v >= v_hour
         order by h.v limit 1;
        if found then
          return v_day + make_interval(hours => v_found[1], mins => v_found[2], secs => v_found[3]);
        end if;
      end if;
      v_day := v_day + 1;
    end if;
  end loop;
  return null;
end;
$$;
