-- millrace.create_api_token: writes down a credential that was made: an API key (kind api_key: hash, public_id where it has one) or a JWT (kind
-- jwt: jti). Other fields: role, tenant_id (missing: for all tenants), user_id, prefix, name, scopes, expires_at. The credential itself
-- never comes here. Returns its id; a repeat with the same hash or jti finds the first one's.
create or replace function millrace.create_api_token(p_token jsonb) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_bad text := (select k from jsonb_object_keys(p_token) k where k not in
    ('kind', 'role', 'tenant_id', 'user_id', 'jti', 'public_id', 'hash', 'prefix', 'name', 'scopes', 'expires_at') limit 1);
  v_scope uuid := millrace.tenant_scope();
  v_tenant uuid := millrace.uuid_or_null(p_token ->> 'tenant_id');
  v_user uuid := millrace.uuid_or_null(p_token ->> 'user_id');
  v_hash bytea;
  v_id uuid := millrace.new_id();
begin
  if p_token is null or v_bad is not null then
    raise exception 'unknown field %', coalesce(v_bad, 'null') using errcode = 'MR024';
  end if;
  if coalesce(p_token ->> 'role', '') not in ('anon', 'authenticated', 'service_role', 'reader', 'operator', 'admin') then
    raise exception 'role must be anon, authenticated, service_role, reader, operator or admin' using errcode = 'MR024';
  end if;
  if (p_token ->> 'tenant_id' is not null and v_tenant is null) or (p_token ->> 'user_id' is not null and v_user is null) then
    raise exception 'tenant_id and user_id must be uuids' using errcode = 'MR024';
  end if;
  if v_scope is not null and v_tenant is distinct from v_scope then
    raise exception 'tenant_id must be the tenant of the caller' using errcode = 'MR015';
  end if;
  if v_tenant is not null and millrace.is_tenant_disabled(v_tenant) then
    raise exception 'tenant % is disabled', v_tenant using errcode = 'MR026';
  end if;
  if p_token ->> 'kind' = 'api_key' and coalesce(p_token ->> 'hash', '') ~ '^[0-9a-f]{64}$' and p_token ->> 'jti' is null then
    v_hash := decode(p_token ->> 'hash', 'hex');
  elsif not coalesce(p_token ->> 'kind' = 'jwt' and octet_length(p_token ->> 'jti') between 1 and 200
                     and p_token ->> 'hash' is null and p_token ->> 'public_id' is null, false) then
    raise exception 'kind must be api_key with a hash of 64 hexadecimal digits, or jwt with a jti' using errcode = 'MR024';
  end if;
  insert into millrace.api_token (token_id, tenant_id, confined, user_id, role, kind, public_id, hash, jti, prefix, name, scopes, created_at,
      created_by, expires_at)
  values (v_id, coalesce(v_tenant, '00000000-0000-0000-0000-000000000000'), v_tenant is not null, v_user, p_token ->> 'role', p_token ->> 'kind',
          p_token ->> 'public_id', v_hash, p_token ->> 'jti', left(coalesce(p_token ->> 'prefix', ''), 40), left(p_token ->> 'name', 200),
          case jsonb_typeof(p_token -> 'scopes') when 'array' then array(select jsonb_array_elements_text(p_token -> 'scopes')) else '{}' end,
          millrace.now(), millrace.actor(), millrace.parse_time(p_token ->> 'expires_at', 'expires_at'))
  on conflict do nothing;
  if not found then
    select t.token_id into v_id from millrace.api_token t
     where (t.hash = v_hash or t.jti = p_token ->> 'jti') and t.role = p_token ->> 'role' and t.user_id is not distinct from v_user
       and t.confined = (v_tenant is not null) and t.tenant_id = coalesce(v_tenant, '00000000-0000-0000-0000-000000000000');
    if not found then
      raise exception 'hash, jti or public_id is in use' using errcode = 'MR024';
    end if;
    return v_id;
  end if;
  perform millrace.audit_for(coalesce(v_tenant, '00000000-0000-0000-0000-000000000000'), 'api_token', v_id::text, 'token_created', null,
    jsonb_strip_nulls(jsonb_build_object('role', p_token ->> 'role', 'kind', p_token ->> 'kind', 'user_id', v_user, 'prefix', p_token ->> 'prefix',
                                         'expires_at', p_token ->> 'expires_at', 'confined', v_tenant is not null)), 'API token created');
  return v_id;
end;
$$;
