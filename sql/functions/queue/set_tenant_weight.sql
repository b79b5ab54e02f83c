-- millrace.set_tenant_weight: a tenant's share of a busy queue, relative to the others (1 where nothing is set).
create or replace function millrace.set_tenant_weight(p_tenant uuid, p_weight integer) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if p_weight is null or p_weight not between 1 and 1000 then
    raise exception 'p_weight must be between 1 and 1000' using errcode = 'MR017';
  end if;
  insert into millrace.tenant_weight as w (tenant_id, weight) values (p_tenant, p_weight)
  on conflict (tenant_id) do update set weight = excluded.weight;
  perform millrace.audit_policy('tenant_weight', p_tenant::text, null, jsonb_build_object('weight', p_weight), 'Tenant weight set');
end;
$$;
