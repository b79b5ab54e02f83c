-- millrace.set_limit: creates or changes the configured limits of a provider; fields not named keep
-- their values, null or -1 means unlimited. Operators' overrides are not touched (E10). Takes
-- effect with the next grant.
create or replace function millrace.set_limit(p_provider_name text, p_api_endpoint text,
                                              p_values jsonb)
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old millrace.api_rate_limits;
  v_new millrace.api_rate_limits;
  v_given jsonb := millrace.read_limit_values(p_values, false);
begin
  if coalesce(p_provider_name, '') !~ '^[^\s:/]{1,100}$' then
    raise exception 'p_provider_name must have 1 to 100 characters without space, colon and slash'
      using errcode = 'MR017';
  end if;
  if coalesce(p_api_endpoint, '') !~ '^\S{1,200}$' then
    raise exception 'p_api_endpoint must have 1 to 200 characters without space'
      using errcode = 'MR017';
  end if;
  insert into millrace.api_rate_limits (provider_name, api_endpoint, created_at, updated_at)
  values (p_provider_name, p_api_endpoint, millrace.now(), millrace.now())
  on conflict on constraint api_rate_limits_name_key do nothing;
  if not found then
    select p.* into v_old from millrace.api_rate_limits p
     where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint for no key update;
  end if;

  select r.* into v_new
    from millrace.api_rate_limits p
    cross join lateral jsonb_populate_record(p, v_given) r
   where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint;
  if v_new.hour_window < v_new.minute_window then
    raise exception 'hour_window must not be shorter than minute_window' using errcode = 'MR017';
  end if;
  update millrace.api_rate_limits p
     set requests_per_minute = v_new.requests_per_minute,
         requests_per_hour = v_new.requests_per_hour,
         tokens_per_minute = v_new.tokens_per_minute, tokens_per_hour = v_new.tokens_per_hour,
         concurrent_requests = v_new.concurrent_requests, status = v_new.status,
         minute_window = v_new.minute_window, hour_window = v_new.hour_window,
         slot_lease = v_new.slot_lease,
         breaker_cooldown = v_new.breaker_cooldown, breaker_threshold = v_new.breaker_threshold,
         backpressure_threshold = v_new.backpressure_threshold,
         backpressure_delay_seconds = v_new.backpressure_delay_seconds,
         queue_depth_limit = v_new.queue_depth_limit, updated_at = millrace.now()
   where p.provider_id = v_new.provider_id;
  if v_old.provider_id is not null then
    perform millrace.rebucket(v_new.provider_id, 'minute', v_old.minute_window,
                              v_new.minute_window);
    perform millrace.rebucket(v_new.provider_id, 'hour', v_old.hour_window, v_new.hour_window);
  end if;
  perform millrace.audit_policy('api_rate_limits', p_provider_name || ':' || p_api_endpoint,
    (select jsonb_object_agg(o.key, o.value) from jsonb_each(to_jsonb(v_old)) o
      where v_given ? o.key and v_old.provider_id is not null),
    v_given, 'Limit changed');
end;
$$;
