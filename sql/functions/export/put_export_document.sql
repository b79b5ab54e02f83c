-- millrace.put_export_document: keeps what a user wants to export: {title, templateSlug, data}. Without an id a new document, else the next version of that one;
-- what is the same as the current version makes no new one. p_expected_version: only while that is current (MR040). MR043 where the user has no such document,
-- MR024 for a document that cannot be kept, MR027 for one too many. Answers as millrace.get_export_document, but without the data, which the caller has.
create or replace function millrace.put_export_document(p_user_id uuid, p_document_id uuid, p_document jsonb, p_expected_version integer default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_tenant uuid;
  v_now timestamptz := millrace.now();
  v_max integer := millrace.config_integer('export.documents_max', 10000);
  v_new record;
  v_sha256 bytea;
  v_document millrace.export_document;
  v_version millrace.export_document_version;
begin
  if p_user_id is null then
    raise exception 'p_user_id is required' using errcode = 'MR024';
  end if;
  if millrace.caller() = 'authenticated' and p_user_id is distinct from millrace.current_user_id() then
    raise exception 'p_user_id must be the caller' using errcode = 'MR015';
  end if;
  select c.title, c.template_slug, c.data into v_new from millrace.check_export_document(p_document) c;
  -- Members in the order of jsonb: the same data, however it was written.
  v_sha256 := sha256(array_send(array['\x6d696c6c726163652e6578706f72742e646f63756d656e742e7631'::bytea, convert_to(v_new.title, 'UTF8'), convert_to(v_new.template_slug, 'UTF8'),
    convert_to(v_new.data::text, 'UTF8')]));
  v_tenant := coalesce(v_scope, millrace.tenant_of_user(p_user_id));
  if p_document_id is null then
    if p_expected_version is not null then
      raise exception 'p_expected_version is for a document that exists' using errcode = 'MR024';
    end if;
    perform millrace.lock_exports(v_tenant, p_user_id);
    if (select count(*) from (select from millrace.export_document d where d.tenant_id = v_tenant and d.user_id = p_user_id limit v_max) d) >= v_max then
      raise exception 'a user may have % export documents', v_max using errcode = 'MR027', hint = 'delete some first';
    end if;
    insert into millrace.export_document as d (document_id, tenant_id, user_id, version, created_at, updated_at)
    values (millrace.new_id(), v_tenant, p_user_id, 1, v_now, v_now) returning d.* into v_document;
  else
    select d.* into v_document from millrace.export_document d
     where d.document_id = p_document_id and d.tenant_id = v_tenant and d.user_id = p_user_id for update;
    if not found then
      raise exception 'Document not found' using errcode = 'MR043';
    end if;
    if p_expected_version is distinct from v_document.version and p_expected_version is not null then
      raise exception 'version % of the document is current, not %', v_document.version, p_expected_version using errcode = 'MR040', detail = v_document.version::text;
    end if;
    select v.* into strict v_version from millrace.export_document_version v where v.document_id = p_document_id and v.version = v_document.version;
    if v_version.content_sha256 = v_sha256 then
      return millrace.export_document_json(v_document, v_version, false);
    end if;
    update millrace.export_document d set version = d.version + 1, updated_at = v_now where d.document_id = p_document_id returning d.* into v_document;
  end if;
  insert into millrace.export_document_version as v (document_id, version, tenant_id, title, template_slug, data, content_sha256, created_at)
  values (v_document.document_id, v_document.version, v_tenant, v_new.title, v_new.template_slug, v_new.data, v_sha256, v_now) returning v.* into v_version;
  perform millrace.drop_versions(v_document.document_id);
  perform millrace.audit_for(v_tenant, 'export_document', v_document.document_id::text, case when v_document.version = 1 then 'export_document_created' else 'export_document_changed' end,
    case when v_document.version > 1 then jsonb_build_object('version', v_document.version - 1) end,
    jsonb_build_object('version', v_document.version, 'sha256', encode(v_sha256, 'hex')), 'Export document written');
  return millrace.export_document_json(v_document, v_version, false);
end;
$$;
