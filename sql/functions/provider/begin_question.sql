-- millrace.begin_question: a question of the tenant of the call is about to be embedded by a paid service, outside of any job: one request, its tokens and a slot at the provider's limits, and the intent within the budget of the
-- tenant, all or nothing. A slot that is not given back ends after slot_lease. p_question: provider, model, request_sha256, estimated_tokens, reserved_micros.
-- Answers call_id, for millrace.end_question; or refused: 'limit', with retry_ms, or 'budget'.
create or replace function millrace.begin_question(p_question jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_name text := millrace.payee(p_question ->> 'provider');
  v_endpoint text := substr(p_question ->> 'provider', strpos(p_question ->> 'provider', ':') + 1);
  v_provider integer := (select a.provider_id from millrace.api_rate_limits a where a.provider_name = v_name and a.api_endpoint = v_endpoint);
  v_room record;
  v_cost bigint;
  v_call jsonb;
begin
  -- As for the stages of a pipeline: a provider without a limit row gets the default one.
  if v_provider is null then
    insert into millrace.api_rate_limits (provider_name, api_endpoint) values (v_name, v_endpoint) on conflict (provider_name, api_endpoint) do nothing;
  end if;
  select a.provider_id into strict v_provider from millrace.api_rate_limits a where a.provider_name = v_name and a.api_endpoint = v_endpoint for no key update;
  v_cost := greatest(1, least((p_question ->> 'estimated_tokens')::bigint, millrace.token_limit(v_provider)));
  select r.* into v_room from millrace.capacity_room(v_provider) r;
  if v_room.requests < 1 or v_room.tokens < v_cost then
    update millrace.api_rate_limits a set rate_limit_violations = a.rate_limit_violations + 1, last_rate_limit_hit = millrace.now() where a.provider_id = v_provider;
    return jsonb_build_object('refused', 'limit',
      'retry_ms', greatest(50, ceil(extract(epoch from least(coalesce(v_room.retry_at, millrace.now() + interval '1 second'), millrace.now() + interval '10 minutes') - millrace.now()) * 1000)));
  end if;
  v_call := millrace.reserve_call(millrace.current_tenant(), p_question - '{call_id,capacity}'::text[] || jsonb_build_object('stage', 'search', 'job_id', null, 'delivery_count', 1, 'estimated_tokens', v_cost));
  if not (v_call ->> 'allowed')::boolean then
    return jsonb_build_object('refused', 'budget');
  end if;
  perform millrace.capacity_take(v_provider, array[null::uuid], array[null::uuid], millrace.caller(), array[v_cost], null);
  return jsonb_build_object('call_id', v_call ->> 'call_id');
end;
$$;
