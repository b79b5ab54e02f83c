-- millrace.revoke_api_token: the credential is refused from now on (servers remember an answer for seconds). p_token: its id, or 'jti:' and the
-- jti of a JWT, known or not: one that was made elsewhere is written down as revoked. Revoking twice is harmless.
create or replace function millrace.revoke_api_token(p_token text, p_reason text default null) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_jti text := case when starts_with(p_token, 'jti:') then substr(p_token, 5) end;
  v_token record;
begin
  if coalesce(octet_length(p_token), 0) not between 1 and 204 or v_jti = '' then
    raise exception 'token must be the id of a token, or jti: and a jti of 1 to 200 bytes' using errcode = 'MR024';
  end if;
  select t.token_id, t.tenant_id, t.confined, t.revoked_at into v_token from millrace.api_token t
   where t.token_id = millrace.uuid_or_null(p_token) or t.jti = v_jti for update;
  -- A tenant revokes only what is known to be its own.
  if v_scope is not null and (not found or not v_token.confined or v_token.tenant_id <> v_scope) or (not found and v_jti is null) then
    raise exception 'token % does not exist', p_token using errcode = 'MR035';
  end if;
  if v_token.token_id is null then
    insert into millrace.api_token (token_id, tenant_id, confined, role, kind, jti, prefix, name, created_at, created_by)
    values (millrace.new_id(), '00000000-0000-0000-0000-000000000000', false, 'anon', 'jwt', v_jti, '', 'made elsewhere', millrace.now(), millrace.actor())
    on conflict (jti) do update set jti = excluded.jti
    returning api_token.token_id, api_token.tenant_id, api_token.confined, api_token.revoked_at into v_token;
  end if;
  if v_token.revoked_at is null then
    update millrace.api_token t set revoked_at = millrace.now(), revoked_by = millrace.actor() where t.token_id = v_token.token_id;
    perform millrace.audit_for(v_token.tenant_id, 'api_token', v_token.token_id::text, 'token_revoked', jsonb_build_object('revoked', false),
                               jsonb_build_object('revoked', true), coalesce(left(p_reason, 500), 'API token revoked'));
  end if;
  return v_token.token_id;
end;
$$;
