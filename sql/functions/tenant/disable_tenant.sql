-- millrace.disable_tenant: the tenant can neither enqueue nor read from now on; its tokens count as revoked. Jobs that wait or run go on, and
-- nothing is removed. Disabling twice is harmless. The default tenant, where rows of the unconfined go, stays open.
create or replace function millrace.disable_tenant(p_tenant uuid, p_reason text default null) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if p_tenant = '00000000-0000-0000-0000-000000000000' then
    raise exception 'the default tenant cannot be disabled' using errcode = 'MR024';
  end if;
  perform millrace.check_tenant(p_tenant);
  update millrace.tenant t set disabled_at = millrace.now(), disabled_reason = left(p_reason, 500), updated_at = millrace.now()
   where t.tenant_id = p_tenant and t.disabled_at is null;
  if found then
    perform millrace.audit_for(p_tenant, 'tenant', p_tenant::text, 'tenant_disabled', jsonb_build_object('disabled', false),
                               jsonb_build_object('disabled', true), coalesce(left(p_reason, 500), 'Tenant disabled'));
  end if;
end;
$$;
