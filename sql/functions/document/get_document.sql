-- millrace.get_document: a document of the caller, with what it is handed out as, why it waits, and what was answered about all of it and could not be used (`review`; of single pages: millrace.list_pages); MR041 for any other.
create or replace function millrace.get_document(p_file_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
begin
  return millrace.document_json(v_file) || jsonb_build_object('waiting', millrace.document_waiting(v_file), 'review', coalesce((
    select jsonb_agg(millrace.refused_answer(row(a.*)::millrace.paid_answer) order by a.kept_at) from millrace.paid_answer a where a.file_id = p_file_id and a.page = 0 and a.refused is not null), '[]'), 'outputs', coalesce((
    select jsonb_agg(jsonb_build_object('kind', o.kind, 'page', nullif(o.page, 0), 'file_name', o.file_name, 'content_type', o.content_type, 'size_bytes', o.size_bytes,
             'sha256', encode(o.sha256, 'hex'), 'created_at', o.created_at) order by o.kind, o.page)
      from millrace.document_output o where o.file_id = p_file_id), '[]'));
end;
$$;
