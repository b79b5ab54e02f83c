-- millrace.enable_tenant: ends what millrace.disable_tenant began. Enabling twice is harmless.
create or replace function millrace.enable_tenant(p_tenant uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  perform millrace.check_tenant(p_tenant);
  update millrace.tenant t set disabled_at = null, disabled_reason = null, updated_at = millrace.now()
   where t.tenant_id = p_tenant and t.disabled_at is not null;
  if found then
    perform millrace.audit_for(p_tenant, 'tenant', p_tenant::text, 'tenant_enabled', jsonb_build_object('disabled', true),
                               jsonb_build_object('disabled', false), 'Tenant enabled');
  end if;
end;
$$;
