-- millrace.revoked_holders: of credentials that streams were opened with, those that are good no more: tokens that were revoked (as
-- millrace.is_token_revoked knows them) and tenants that were disabled. One question for all the streams of a server.
create or replace function millrace.revoked_holders(p_tokens text[], p_tenants uuid[]) returns table (token text, tenant_id uuid)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query select t.token, null::uuid from unnest(p_tokens) t(token) where millrace.is_token_revoked(t.token);
  return query select null::text, t.id from unnest(p_tenants) t(id) where millrace.is_tenant_disabled(t.id);
end;
$$;
