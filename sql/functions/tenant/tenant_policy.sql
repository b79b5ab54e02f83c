-- millrace.tenant_policy: what an operator has decided about a tenant, as a server asks for every request (and remembers for seconds).
create or replace function millrace.tenant_policy(p_tenant uuid) returns table (disabled boolean, requests_per_minute integer)
  language plpgsql stable rows 1 security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select t.disabled_at is not null, t.requests_per_minute from millrace.tenant t where t.tenant_id = p_tenant
  union all
  select false, null::integer where not exists (select from millrace.tenant t where t.tenant_id = p_tenant);
end;
$$;
