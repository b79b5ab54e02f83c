-- millrace.reset_breaker: an operator's word that a provider works again: closes the breaker,
-- forgets its failures and the wait the provider asked for. Repeating it changes nothing.
create or replace function millrace.reset_breaker(p_provider_name text, p_api_endpoint text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old record;
begin
  select p.provider_id, p.breaker_state, p.breaker_until, p.breaker_failures, p.breaker_reason,
         p.throttled_until
    into v_old
    from millrace.api_rate_limits p
   where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint
     for no key update;
  if not found then
    raise exception 'No rate limit configuration for %:%', p_provider_name, p_api_endpoint
      using errcode = 'MR013';
  end if;
  if v_old.breaker_state = 'closed' and v_old.breaker_failures = 0
     and v_old.throttled_until is null then
    return;
  end if;
  perform millrace.set_breaker(v_old.provider_id, 'closed', null, 0, 0, null);
  update millrace.api_rate_limits p set throttled_until = null
   where p.provider_id = v_old.provider_id;
  perform millrace.audit_policy('api_rate_limits', p_provider_name || ':' || p_api_endpoint,
    to_jsonb(v_old) - 'provider_id', jsonb_build_object('breaker_state', 'closed'),
    'Circuit breaker reset');
end;
$$;
