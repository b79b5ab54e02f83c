-- millrace.check_time_zone: raises MR012 for what is not the name of a time zone. Fixed offsets
-- such as UTC+2 are refused: in PostgreSQL that one lies west of Greenwich.
create or replace function millrace.check_time_zone(p_time_zone text) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_time_zone, '') ~ '^[A-Za-z_]+(-[A-Za-z]+)*(/[A-Za-z0-9_+-]+)*$' then
    perform clock_timestamp() at time zone p_time_zone;
    return;
  end if;
  raise invalid_parameter_value;
exception when invalid_parameter_value then
  raise exception 'time zone "%" is not known', left(coalesce(p_time_zone, ''), 100)
    using errcode = 'MR012', hint = 'a name such as Europe/Berlin or UTC';
end;
$$;
