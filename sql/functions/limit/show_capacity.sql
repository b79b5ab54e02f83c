-- millrace.show_capacity: brings the display columns of a provider up to date and deletes buckets
-- that no window reaches any more. The caller holds the provider row. The *_reset_at columns are
-- the instants since which the current_* columns count. p_granted says that p_at is the instant of
-- a grant; whoever is granted anything after the cooldown of an open breaker is its probe.
create or replace function millrace.show_capacity(p_provider_id integer, p_at timestamptz,
                                                  p_granted boolean)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_used record;
  v_minute bigint;
  v_hour bigint;
begin
  select p.minute_window, p.hour_window into v_row
    from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  select u.* into v_used
    from millrace.provider_usage(p_provider_id, p_at, v_row.minute_window, v_row.hour_window) u;
  v_minute := millrace.bucket_at(p_at, v_row.minute_window) - 60;
  v_hour := millrace.bucket_at(p_at, v_row.hour_window) - 60;
  if v_used.stale then
    delete from millrace.provider_bucket b
     where b.provider_id = p_provider_id and b.time_window = 'minute' and b.bucket < v_minute;
    delete from millrace.provider_bucket b
     where b.provider_id = p_provider_id and b.time_window = 'hour' and b.bucket < v_hour;
  end if;
  update millrace.api_rate_limits p
     set current_requests_minute = v_used.requests_minute,
         current_tokens_minute = v_used.tokens_minute,
         current_requests_hour = v_used.requests_hour, current_tokens_hour = v_used.tokens_hour,
         active_requests = (select coalesce(sum(s.jobs), 0) from millrace.provider_slot s
                             where s.provider_id = p_provider_id),
         minute_reset_at = millrace.bucket_start(v_minute, v_row.minute_window),
         hour_reset_at = millrace.bucket_start(v_hour, v_row.hour_window),
         last_grant_at = case when p_granted then p_at else p.last_grant_at end,
         breaker_state = case when p_granted and p.breaker_state = 'open' then 'half_open'
                              else p.breaker_state end
   where p.provider_id = p_provider_id;
end;
$$;
