-- millrace.set_breaker: writes the state of a provider's circuit breaker; a change of state is an
-- event. The caller holds the provider row.
create or replace function millrace.set_breaker(
    p_provider_id integer, p_state text, p_until timestamptz, p_failures integer,
    p_opens integer, p_reason text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_old record;
begin
  select p.provider_name, p.api_endpoint, p.breaker_state, p.breaker_opens into v_old
    from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  update millrace.api_rate_limits p
     set breaker_state = p_state, breaker_until = p_until, breaker_failures = p_failures,
         breaker_opens = p_opens, breaker_reason = left(p_reason, 500)
   where p.provider_id = p_provider_id;
  if v_old.breaker_state <> p_state or v_old.breaker_opens <> p_opens then
    insert into millrace.event (at, tenant_id, kind, data)
    values (millrace.now(), '00000000-0000-0000-0000-000000000000', 'limit.breaker',
            jsonb_build_object('provider_name', v_old.provider_name,
                               'api_endpoint', v_old.api_endpoint,
                               'state', p_state, 'until', p_until, 'reason', left(p_reason, 500)));
  end if;
end;
$$;
