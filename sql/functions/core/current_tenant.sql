-- millrace.current_tenant: the tenant new rows of this call belong to; never null.
create or replace function millrace.current_tenant() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(millrace.tenant_scope(), '00000000-0000-0000-0000-000000000000'::uuid);
end;
$$;
