-- millrace.delete_export_document: removes an export document of a user with all its versions. Exports of it that are not finished are cancelled, those that can be
-- downloaded stay until they expire. p_expected_version: only while that is current (MR040). False where the user has none of this id.
create or replace function millrace.delete_export_document(p_user_id uuid, p_document_id uuid, p_expected_version integer default null) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_document millrace.export_document;
  v_gone boolean;
begin
  if millrace.caller() = 'authenticated' and p_user_id is distinct from millrace.current_user_id() then
    raise exception 'p_user_id must be the caller' using errcode = 'MR015';
  end if;
  select d.* into v_document from millrace.export_document d
   where d.document_id = p_document_id and d.user_id = p_user_id and (v_scope is null or d.tenant_id = v_scope);
  if not found then
    return false;
  end if;
  -- Orders wait for this one, and then find no document. Jobs come before what they are about, as everywhere.
  perform millrace.lock_exports(v_document.tenant_id, v_document.user_id);
  perform millrace.cancel_one(r.job_id, null, 'Document deleted')
     from (select o.job_id from millrace.export_reservation o where o.document_id = p_document_id order by o.job_id) r;
  delete from millrace.export_document d where d.document_id = p_document_id returning d.* into v_document;
  v_gone := found;
  -- What was done before is undone with it.
  if v_gone and p_expected_version is not null and p_expected_version <> v_document.version then
    raise exception 'version % of the document is current, not %', v_document.version, p_expected_version using errcode = 'MR040', detail = v_document.version::text;
  end if;
  if v_gone then
    perform millrace.audit_for(v_document.tenant_id, 'export_document', p_document_id::text, 'export_document_deleted', jsonb_build_object('version', v_document.version), null,
                               'Export document deleted');
  end if;
  return v_gone;
end;
$$;
