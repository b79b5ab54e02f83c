-- millrace.override_limit: an operator's values over the configured ones, for a time or until
-- cleared. Deploys never write here (E10). Fields not named keep an earlier override's value, null
-- takes a field's override away, -1 means unlimited; reason and time to live are those of the last
-- call.
create or replace function millrace.override_limit(
    p_provider_name text, p_api_endpoint text, p_values jsonb, p_reason text,
    p_ttl interval default null)
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_old jsonb;
  v_new jsonb;
  v_given jsonb := millrace.read_limit_values(p_values, true);
begin
  if coalesce(btrim(p_reason), '') = '' then
    raise exception 'p_reason is required'
      using errcode = 'MR017', hint = 'say why, for whoever finds it later';
  end if;
  if p_ttl <= interval '0' then
    raise exception 'p_ttl must be positive'
      using errcode = 'MR017', hint = 'null keeps the override until it is cleared';
  end if;
  update millrace.api_rate_limits p set updated_at = v_now
   where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint;
  if not found then
    raise exception 'No rate limit configuration for %:%', p_provider_name, p_api_endpoint
      using errcode = 'MR013', hint = 'create it with millrace.set_limit';
  end if;

  select to_jsonb(o) into v_old
    from millrace.api_rate_limit_override o
   where o.provider_name = p_provider_name and o.api_endpoint = p_api_endpoint;
  v_new := case when (v_old ->> 'expires_at')::timestamptz <= v_now then '{}'::jsonb
                else coalesce(v_old, '{}') end
           || v_given
           || jsonb_build_object('provider_name', p_provider_name, 'api_endpoint', p_api_endpoint,
                                 'reason', left(btrim(p_reason), 1000), 'set_by', millrace.actor(),
                                 'set_at', v_now, 'expires_at', v_now + p_ttl);
  delete from millrace.api_rate_limit_override o
   where o.provider_name = p_provider_name and o.api_endpoint = p_api_endpoint;
  insert into millrace.api_rate_limit_override
  select r.* from jsonb_populate_record(null::millrace.api_rate_limit_override, v_new) r
   where num_nonnulls(r.requests_per_minute, r.requests_per_hour, r.tokens_per_minute,
                      r.tokens_per_hour, r.concurrent_requests, r.status) > 0;
  v_new := case when found then v_new end;
  if v_old is null and v_new is null then
    return;
  end if;
  perform millrace.audit_policy('api_rate_limit_override', p_provider_name || ':' || p_api_endpoint,
                                v_old, v_new, left(btrim(p_reason), 1000));
end;
$$;
