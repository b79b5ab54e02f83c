-- millrace.set_budget: what the tenant of the call may spend on a provider in a day (UTC), in millionths of the currency of prices; null takes it back to the general one.
-- A provider that nobody has limits for is refused: a budget under a misspelt name would hold for nobody.
create or replace function millrace.set_budget(p_provider text, p_micros_per_day bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := millrace.current_tenant();
  v_old bigint := (select b.micros_per_day from millrace.provider_budget b where b.tenant_id = v_tenant and b.provider = p_provider);
begin
  if coalesce(p_provider, '') !~ '^[a-z0-9][a-z0-9_.-]{0,62}$' then
    raise exception 'provider must be a name of 1 to 63 letters, digits and _ . -' using errcode = 'MR024';
  end if;
  if p_micros_per_day is not null and not exists (select from millrace.api_rate_limits a where millrace.payee(a.provider_name) = p_provider) then
    raise exception 'provider must be one that has limits: %', (select string_agg(distinct millrace.payee(a.provider_name), ', ') from millrace.api_rate_limits a)
      using errcode = 'MR024';
  end if;
  if p_micros_per_day < 0 then
    raise exception 'micros_per_day must not be negative' using errcode = 'MR024';
  end if;
  if p_micros_per_day is null then
    delete from millrace.provider_budget b where b.tenant_id = v_tenant and b.provider = p_provider;
  else
    insert into millrace.provider_budget as b (tenant_id, provider, micros_per_day, updated_at) values (v_tenant, p_provider, p_micros_per_day, millrace.now())
    on conflict (tenant_id, provider) do update set micros_per_day = excluded.micros_per_day, updated_at = excluded.updated_at;
  end if;
  perform millrace.audit_for(v_tenant, 'provider_budget', p_provider, 'budget_set', jsonb_build_object('micros_per_day', v_old),
    jsonb_build_object('micros_per_day', p_micros_per_day), 'Budget of a provider set');
end;
$$;
