-- millrace.list_api_tokens: credentials that were handed out, newest first, behind p_before; without what could be used.
create or replace function millrace.list_api_tokens(p_before uuid default null, p_limit integer default 100, p_all boolean default false)
  returns table (token_id uuid, tenant_id uuid, user_id uuid, role text, kind text, prefix text, name text, scopes text[], created_at timestamptz,
                 created_by text, expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select t.token_id, case when t.confined then t.tenant_id end, t.user_id, t.role, t.kind, t.prefix, t.name, t.scopes, t.created_at, t.created_by,
         t.expires_at, t.revoked_at, t.last_used_at
    from millrace.api_token t
   where (p_before is null or t.token_id < p_before) and (v_scope is null or (t.confined and t.tenant_id = v_scope))
     and (p_all or (t.revoked_at is null and (t.expires_at is null or t.expires_at > millrace.now())))
   order by t.token_id desc limit least(greatest(coalesce(p_limit, 100), 1), 1000);
end;
$$;
