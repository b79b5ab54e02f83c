-- millrace.bucket_start: the instant at which a sub-bucket begins.
create or replace function millrace.bucket_start(p_bucket bigint, p_window interval)
  returns timestamptz
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return to_timestamp(0) + interval '1 microsecond' * (p_bucket * millrace.bucket_length(p_window));
end;
$$;
