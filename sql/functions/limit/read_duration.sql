-- millrace.read_duration: a JSON number of seconds or a text such as "500ms", "30s", "5m", "2
-- hours", "1d" as interval; null where it is neither.
create or replace function millrace.read_duration(p_value jsonb) returns interval
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
begin
  if jsonb_typeof(p_value) = 'number' then
    if abs((p_value #>> '{}')::numeric) > 1e9 then
      return null;
    end if;
    return make_interval(secs => (p_value #>> '{}')::double precision);
  end if;
  v_parts := regexp_match(lower(p_value #>> '{}'),
    '^\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*'
    '(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\s*$');
  if jsonb_typeof(p_value) <> 'string' or v_parts is null then
    return null;
  end if;
  return make_interval(secs => (v_parts[1]::numeric * case
    when v_parts[2] like 'ms' or v_parts[2] like 'milli%' then 0.001
    when v_parts[2] like 'm%' then 60
    when v_parts[2] like 'h%' then 3600
    when v_parts[2] like 'd%' then 86400
    else 1 end)::double precision);
end;
$$;
