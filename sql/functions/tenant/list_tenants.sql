-- millrace.list_tenants: tenants in the order of their ids behind p_after, with what they may and do store. Confined callers see their own.
create or replace function millrace.list_tenants(p_after uuid default null, p_limit integer default 100, p_tenant uuid default null)
  returns table (tenant_id uuid, name text, quota_bytes bigint, quota_files bigint, used_bytes bigint, used_files bigint,
                 requests_per_minute integer, disabled_at timestamptz, disabled_reason text, created_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select t.tenant_id, t.name, q.bytes_max, q.files_max, u.bytes, u.files, t.requests_per_minute, t.disabled_at, t.disabled_reason, t.created_at
    from millrace.tenant t cross join lateral millrace.tenant_quota(t.tenant_id) q cross join lateral millrace.tenant_stored(t.tenant_id) u
   where (p_after is null or t.tenant_id > p_after) and (v_scope is null or t.tenant_id = v_scope) and (p_tenant is null or t.tenant_id = p_tenant)
   order by t.tenant_id limit least(greatest(coalesce(p_limit, 100), 1), 1000);
end;
$$;
