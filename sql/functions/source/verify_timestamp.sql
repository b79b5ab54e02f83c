-- millrace.verify_timestamp: whether a time in Unix seconds is within the tolerance of now, either way (W-05).
create or replace function millrace.verify_timestamp(p_timestamp bigint, p_tolerance integer default 300) returns boolean
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select coalesce(abs(floor(extract(epoch from millrace.now())) - p_timestamp) <= p_tolerance, false)
$$;
