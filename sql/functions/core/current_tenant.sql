-- millrace.current_tenant: the tenant new rows of this call belong to; never null. Nobody adds to a disabled tenant: MR026.
create or replace function millrace.current_tenant() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := millrace.tenant_scope();
begin
  if v_tenant is null then
    return '00000000-0000-0000-0000-000000000000'::uuid;
  end if;
  if millrace.caller() not in ('anon', 'authenticated', 'service_role') and millrace.is_tenant_disabled(v_tenant) then
    raise exception 'tenant % is disabled', v_tenant using errcode = 'MR026';
  end if;
  return v_tenant;
end;
$$;
