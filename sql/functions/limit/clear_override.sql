-- millrace.clear_override: takes an operator's override away; says whether there was one.
create or replace function millrace.clear_override(p_provider_name text, p_api_endpoint text)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old jsonb;
begin
  update millrace.api_rate_limits p set updated_at = millrace.now()
   where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint;
  if not found then
    raise exception 'No rate limit configuration for %:%', p_provider_name, p_api_endpoint
      using errcode = 'MR013';
  end if;
  delete from millrace.api_rate_limit_override o
   where o.provider_name = p_provider_name and o.api_endpoint = p_api_endpoint
  returning to_jsonb(o) into v_old;
  if v_old is null then
    return false;
  end if;
  perform millrace.audit_policy('api_rate_limit_override', p_provider_name || ':' || p_api_endpoint,
                                v_old, null, 'Override cleared');
  return true;
end;
$$;
