-- millrace.list_spend: what the tenant of the call (all tenants, for an operator) spent on providers, the last p_days days.
create or replace function millrace.list_spend(p_days integer default 7) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select jsonb_build_object('tenant_id', s.tenant_id, 'provider', s.provider, 'day', s.day, 'calls', s.calls, 'spent_micros', s.spent_micros, 'reserved_micros', s.reserved_micros,
           'budget_micros', coalesce((select b.micros_per_day from millrace.provider_budget b where b.tenant_id = s.tenant_id and b.provider = s.provider),
                                     nullif(millrace.config_bigint('budget.micros_per_day', 0), 0)))
    from millrace.provider_spend s
   where (v_scope is null or s.tenant_id = v_scope) and s.day > (millrace.now() at time zone 'UTC')::date - least(greatest(coalesce(p_days, 7), 1), 366)
   order by s.day desc, s.provider, s.tenant_id limit 1000;
end;
$$;
