-- millrace.reopen_document: a document that had ended and is held by the caller is processed again, for the document and for those who read its file. One that is being processed stays as
-- it is. Answers the row as it is then.
create or replace function millrace.reopen_document(p_document millrace.document) returns millrace.document
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document := p_document;
begin
  if p_document.state <> 'processing' then
    update millrace.document d set state = 'processing', finished_at = null, run = d.run + 1, updated_at = v_now where d.file_id = p_document.file_id returning d.* into v_document;
    update millrace.shell_files f set status = 'processing', updated_at = v_now where f.id = p_document.file_id;
  end if;
  return v_document;
end;
$$;
