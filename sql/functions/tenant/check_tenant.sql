-- millrace.check_tenant: MR034 for a tenant that has no row, or is not the one the caller is confined to.
create or replace function millrace.check_tenant(p_tenant uuid) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  if (v_scope is not null and v_scope is distinct from p_tenant) or not exists (select from millrace.tenant t where t.tenant_id = p_tenant) then
    raise exception 'tenant % does not exist', p_tenant using errcode = 'MR034';
  end if;
end;
$$;
