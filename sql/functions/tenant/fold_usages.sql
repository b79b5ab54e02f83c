-- millrace.fold_usages: folds what tenants stored since, p_limit tenants at most: those without a limit reserve nothing, and would never do it
-- themselves. Whose row somebody holds is passed over. Answers how many.
create or replace function millrace.fold_usages(p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid;
  v_count integer := 0;
begin
  for v_tenant in select distinct d.tenant_id from millrace.usage_delta d order by d.tenant_id limit p_limit loop
    insert into millrace.tenant_usage (tenant_id) values (v_tenant) on conflict do nothing;
    perform from millrace.tenant_usage u where u.tenant_id = v_tenant for update skip locked;
    continue when not found;
    perform millrace.fold_usage(v_tenant);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
