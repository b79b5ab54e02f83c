-- millrace.tenant_quota: what a tenant may store: its own quota, else what system_configuration says; null: no limit.
create or replace function millrace.tenant_quota(p_tenant uuid) returns table (bytes_max bigint, files_max bigint)
  language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp
as $$
declare
  v_own millrace.tenant;
begin
  select t.* into v_own from millrace.tenant t where t.tenant_id = p_tenant;
  bytes_max := coalesce(v_own.quota_bytes, nullif(millrace.config_bigint('tenant.quota_bytes', 0), 0));
  files_max := coalesce(v_own.quota_files, nullif(millrace.config_bigint('tenant.quota_files', 0), 0));
  return next;
end;
$$;
