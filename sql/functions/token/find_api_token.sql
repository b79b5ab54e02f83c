-- millrace.find_api_token: what an API key stands for, by its public id where it has one, else by its hash; no row for an unknown one. The
-- server compares the hash, and remembers the answer for seconds. A key of a disabled tenant counts as revoked.
create or replace function millrace.find_api_token(p_public_id text, p_hash bytea)
  returns table (token_id uuid, hash bytea, role text, tenant_id uuid, user_id uuid, scopes text[], expires_at timestamptz, revoked boolean)
  language plpgsql stable rows 1 security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  if p_public_id is not null then
    return query
    select t.token_id, t.hash, t.role, case when t.confined then t.tenant_id end, t.user_id, t.scopes, t.expires_at,
           t.revoked_at is not null or (t.confined and millrace.is_tenant_disabled(t.tenant_id))
      from millrace.api_token t where t.public_id = p_public_id and t.kind = 'api_key';
  else
    return query
    select t.token_id, t.hash, t.role, case when t.confined then t.tenant_id end, t.user_id, t.scopes, t.expires_at,
           t.revoked_at is not null or (t.confined and millrace.is_tenant_disabled(t.tenant_id))
      from millrace.api_token t where t.hash = p_hash and t.kind = 'api_key';
  end if;
end;
$$;
