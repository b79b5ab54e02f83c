-- millrace.zone_change: the first instant after p_from, not after p_to, at which the clocks of a
-- zone are what they are at p_to; p_from and p_to lie on the two sides of one change.
create or replace function millrace.zone_change(p_from timestamptz, p_to timestamptz,
                                                p_time_zone text)
  returns timestamptz language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  -- Changes fall on whole seconds.
  v_low bigint := floor(extract(epoch from p_from));
  v_high bigint := ceil(extract(epoch from p_to));
  v_middle bigint;
  v_before interval := millrace.zone_offset(p_from, p_time_zone);
begin
  while v_high - v_low > 1 loop
    v_middle := (v_low + v_high) / 2;
    if millrace.zone_offset(to_timestamp(v_middle), p_time_zone) = v_before then
      v_low := v_middle;
    else
      v_high := v_middle;
    end if;
  end loop;
  return to_timestamp(v_high);
end;
$$;
