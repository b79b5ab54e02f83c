-- millrace.zone_offset: how far the clocks of a time zone are ahead of UTC at an instant.
create or replace function millrace.zone_offset(p_at timestamptz, p_time_zone text) returns interval
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return (p_at at time zone p_time_zone) - (p_at at time zone 'UTC');
end;
$$;
