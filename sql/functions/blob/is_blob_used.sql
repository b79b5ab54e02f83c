-- millrace.is_blob_used: whether a row of the tenant refers to this content.
create or replace function millrace.is_blob_used(p_tenant uuid, p_sha256 bytea) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from millrace.storage_object o where o.tenant_id = p_tenant and o.sha256 = p_sha256)
      or exists (select from millrace.artifact a where a.tenant_id = p_tenant and a.sha256 = p_sha256)
      or exists (select from millrace.page_result r where r.tenant_id = p_tenant and r.sha256 = p_sha256)
      or exists (select from millrace.document_output d where d.tenant_id = p_tenant and d.sha256 = p_sha256)
      or exists (select from millrace.parse_request r where r.tenant_id = p_tenant and r.sha256 = p_sha256);
end;
$$;
