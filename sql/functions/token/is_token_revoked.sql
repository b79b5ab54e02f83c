-- millrace.is_token_revoked: whether the credential with this id was revoked: the jti of a JWT, or the token_id of an API key (what was made with a
-- key ends with it). A JWT that was made elsewhere is not known, and not revoked.
create or replace function millrace.is_token_revoked(p_token text) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return exists (select from millrace.api_token t where t.jti = p_token
                   and (t.revoked_at is not null or (t.confined and millrace.is_tenant_disabled(t.tenant_id))))
      or exists (select from millrace.api_token t where t.token_id = millrace.uuid_or_null(p_token)
                   and (t.revoked_at is not null or (t.confined and millrace.is_tenant_disabled(t.tenant_id))));
end;
$$;
