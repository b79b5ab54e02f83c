-- millrace.drop_versions: forgets versions of an export document that are not current and that no export names any more, neither one under way nor one that can be
-- downloaded. p_version: that one only. No lock: orders take the current version and hold the document until they are committed, so whoever sees a later version sees
-- all orders of the earlier ones.
create or replace function millrace.drop_versions(p_document_id uuid, p_version integer default null) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from millrace.export_document_version v
   where v.document_id = p_document_id and (p_version is null or v.version = p_version)
     and v.version < (select d.version from millrace.export_document d where d.document_id = p_document_id)
     and not exists (select from millrace.export_reservation r where r.document_id = v.document_id and r.document_version = v.version)
     and not exists (select from millrace.export_history h where h.document_id = v.document_id and h.document_version = v.version);
end;
$$;
