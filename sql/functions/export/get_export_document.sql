-- millrace.get_export_document: an export document that the caller may see, in its current version or in p_version. MR043 where there is none; a version that no
-- export names any more is gone, too.
create or replace function millrace.get_export_document(p_document_id uuid, p_version integer default null) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_answer jsonb;
begin
  select millrace.export_document_json(row(d.*)::millrace.export_document, row(v.*)::millrace.export_document_version, true) into v_answer
    from millrace.export_document d
    join millrace.export_document_version v on v.document_id = d.document_id and v.version = coalesce(p_version, d.version)
   where d.document_id = p_document_id and (v_scope is null or d.tenant_id = v_scope) and (v_user is null or d.user_id = v_user);
  if v_answer is null then
    raise exception 'Document not found' using errcode = 'MR043';
  end if;
  return v_answer;
end;
$$;
