-- millrace.is_tenant_disabled: whether an operator has disabled the tenant. One look by key; asked by every call of a confined client.
create or replace function millrace.is_tenant_disabled(p_tenant uuid) returns boolean
  language plpgsql stable parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from millrace.tenant t where t.tenant_id = p_tenant and t.disabled_at is not null);
end;
$$;
