-- millrace.tenant_scope: the tenant a call is confined to; null means all tenants, which only engine roles, service_role
-- and the owner can get. anon and authenticated are always confined to the tenant of their token; a token
-- without one gives a tenant that owns nothing.
create or replace function millrace.tenant_scope() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting text := nullif(current_setting('millrace.tenant_id', true), '');
  v_tenant uuid;
begin
  if millrace.caller() in ('anon', 'authenticated') then
    return coalesce(millrace.claimed_tenant(), 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid);
  end if;
  if v_setting is not null then
    v_tenant := millrace.uuid_or_null(v_setting);
    if v_tenant is null then
      raise exception 'millrace.tenant_id must be a uuid' using errcode = 'MR015';
    end if;
    return v_tenant;
  end if;
  return millrace.claimed_tenant();
end;
$$;
