-- millrace.create_tenant_row: millrace.create_tenant, answering the tenant as millrace.list_tenants shows it: what is kept for a request that may be
-- asked again.
create or replace function millrace.create_tenant_row(p_name text, p_tenant uuid default null, p_options jsonb default '{}') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id uuid := millrace.create_tenant(p_name, p_tenant, p_options);
begin
  -- In a statement of its own, which sees the row.
  return (select to_jsonb(t) from millrace.list_tenants(null, 1, v_id) t);
end;
$$;
