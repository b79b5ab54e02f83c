-- millrace.capacity_charge: charges requests and tokens to the current sub-buckets of a provider and says which. The caller holds the
-- provider row. A grant is dated after the lock was got and never before the grant that went ahead of it.
create or replace function millrace.capacity_charge(
    p_provider_id integer, p_requests bigint, p_cost bigint, out at timestamptz, out minute_bucket bigint, out hour_bucket bigint, out slot_lease interval)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
begin
  select p.last_grant_at, p.minute_window, p.hour_window, p.slot_lease into v_row
    from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  at := greatest(millrace.now(), v_row.last_grant_at);
  minute_bucket := millrace.bucket_at(at, v_row.minute_window);
  hour_bucket := millrace.bucket_at(at, v_row.hour_window);
  slot_lease := v_row.slot_lease;
  insert into millrace.provider_bucket as b (provider_id, time_window, bucket, requests, tokens)
  values (p_provider_id, 'minute', capacity_charge.minute_bucket, p_requests, p_cost),
         (p_provider_id, 'hour', capacity_charge.hour_bucket, p_requests, p_cost)
  on conflict on constraint provider_bucket_pkey
  do update set requests = b.requests + excluded.requests, tokens = b.tokens + excluded.tokens;
end;
$$;
