-- millrace.tenant_scope: the tenant a call is confined to; null means all tenants, which only engine roles, service_role
-- and the owner can get. anon and authenticated are always confined to the tenant of their token; a token
-- without one gives a tenant that owns nothing. A client of a disabled tenant gets MR026, whatever it reads or writes.
create or replace function millrace.tenant_scope() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting text := nullif(current_setting('millrace.tenant_id', true), '');
  v_claims text := current_setting('request.jwt.claims', true);
  v_caller text := millrace.caller();
  v_tenant uuid;
begin
  if v_caller in ('anon', 'authenticated') then
    v_tenant := coalesce(millrace.claimed_tenant(), 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid);
  elsif v_setting is not null then
    v_tenant := millrace.uuid_or_null(v_setting);
    if v_tenant is null then
      raise exception 'millrace.tenant_id must be a uuid' using errcode = 'MR015';
    end if;
  -- Claims without these words name no tenant, and to read them would cost every call of a service. A backslash may hide a word.
  elsif strpos(v_claims, '"sub"') > 0 or strpos(v_claims, '"tenant_id"') > 0 or strpos(v_claims, chr(92)) > 0 then
    v_tenant := millrace.claimed_tenant();
  end if;
  if v_tenant is not null and v_caller in ('anon', 'authenticated', 'service_role') and millrace.is_tenant_disabled(v_tenant) then
    raise exception 'tenant % is disabled', v_tenant using errcode = 'MR026';
  end if;
  return v_tenant;
end;
$$;
