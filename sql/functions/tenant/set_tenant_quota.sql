-- millrace.set_tenant_quota: changes quota_bytes, quota_files and requests_per_minute, as far as given; null goes back to what holds for all
-- tenants. What is stored already stays, whatever the new quota.
create or replace function millrace.set_tenant_quota(p_tenant uuid, p_quota jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_old millrace.tenant;
  v_bad text := (select e.key from jsonb_each(p_quota) e
                  where e.key not in ('quota_bytes', 'quota_files', 'requests_per_minute')
                     or not (jsonb_typeof(e.value) = 'null' or (jsonb_typeof(e.value) = 'number'
                             and e.value #>> '{}' ~ case e.key when 'requests_per_minute' then '^[0-9]{1,9}$' else '^[0-9]{1,18}$' end)) limit 1);
begin
  if p_quota is null or v_bad is not null then
    raise exception '% must be a whole number of at least 0, or null', coalesce(v_bad, 'quota_bytes')
      using errcode = 'MR024', hint = 'quota_bytes, quota_files, requests_per_minute';
  end if;
  perform millrace.check_tenant(p_tenant);
  select t.* into v_old from millrace.tenant t where t.tenant_id = p_tenant for update;
  update millrace.tenant t
     set quota_bytes = case when p_quota ? 'quota_bytes' then (p_quota ->> 'quota_bytes')::bigint else t.quota_bytes end,
         quota_files = case when p_quota ? 'quota_files' then (p_quota ->> 'quota_files')::bigint else t.quota_files end,
         requests_per_minute = case when p_quota ? 'requests_per_minute' then (p_quota ->> 'requests_per_minute')::integer else t.requests_per_minute end,
         updated_at = millrace.now()
   where t.tenant_id = p_tenant;
  perform millrace.audit_for(p_tenant, 'tenant', p_tenant::text, 'tenant_quota_set',
                             jsonb_build_object('quota_bytes', v_old.quota_bytes, 'quota_files', v_old.quota_files,
                             'requests_per_minute', v_old.requests_per_minute), p_quota, 'Tenant quota set');
end;
$$;
