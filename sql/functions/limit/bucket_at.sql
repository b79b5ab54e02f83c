-- millrace.bucket_at: number of the sub-bucket that an instant falls in.
create or replace function millrace.bucket_at(p_at timestamptz, p_window interval) returns bigint
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return (extract(epoch from p_at) * 1000000)::bigint / millrace.bucket_length(p_window);
end;
$$;
