-- millrace.bucket_length: microseconds in one of the 60 sub-buckets of a window. Rounded up, so
-- that 60 of them are never shorter than the window.
create or replace function millrace.bucket_length(p_window interval) returns bigint
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return ceil(extract(epoch from p_window) * 1000000 / 60)::bigint;
end;
$$;
