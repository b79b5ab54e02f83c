-- millrace.create_tenant: gives a tenant a row: a name for people and, in p_options, its limits (see millrace.set_tenant_quota). p_tenant: its id,
-- where tokens name it already. Repeated with the same id and name it answers the same and changes nothing; a name that is taken: MR024.
create or replace function millrace.create_tenant(p_name text, p_tenant uuid default null, p_options jsonb default '{}') returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := coalesce(p_tenant, millrace.new_id());
  v_now timestamptz := millrace.now();
  v_bad text := (select k from jsonb_object_keys(p_options) k where k not in ('quota_bytes', 'quota_files', 'requests_per_minute') limit 1);
begin
  if coalesce(octet_length(btrim(p_name)), 0) not between 1 and 200 then
    raise exception 'name must have 1 to 200 bytes' using errcode = 'MR024';
  end if;
  if v_bad is not null then
    raise exception 'unknown field %', v_bad using errcode = 'MR024';
  end if;
  if millrace.tenant_scope() is not null then
    raise exception 'tenants are made by callers that are confined to none' using errcode = 'MR015';
  end if;
  if v_tenant = 'ffffffff-ffff-ffff-ffff-ffffffffffff' then
    raise exception 'tenant_id must not be the one that stands for nobody' using errcode = 'MR024';
  end if;
  insert into millrace.tenant (tenant_id, name, created_at, created_by, updated_at) values (v_tenant, btrim(p_name), v_now, millrace.actor(), v_now)
  on conflict do nothing;
  if not found then
    if exists (select from millrace.tenant t where t.tenant_id = p_tenant and t.name = btrim(p_name)) then
      return p_tenant;
    end if;
    raise exception 'a tenant with this % exists', case when exists (select from millrace.tenant t where t.tenant_id = p_tenant) then 'id' else 'name' end
      using errcode = 'MR024';
  end if;
  perform millrace.audit_for(v_tenant, 'tenant', v_tenant::text, 'tenant_created', null, jsonb_build_object('name', btrim(p_name)), 'Tenant created');
  if p_options <> '{}' then
    perform millrace.set_tenant_quota(v_tenant, p_options);
  end if;
  return v_tenant;
end;
$$;
