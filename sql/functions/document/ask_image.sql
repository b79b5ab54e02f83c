-- millrace.ask_image: asks for a picture of a page of a document of the caller; answers the job that draws it. Asked again while it is drawn, it answers the same job.
create or replace function millrace.ask_image(p_file_id uuid, p_page integer) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
  v_document millrace.document;
begin
  select d.* into v_document from millrace.document d where d.file_id = v_file.id;
  if not exists (select from millrace.page p where p.file_id = v_file.id and p.page = p_page) then
    raise exception 'document % has no page %', p_file_id, p_page using errcode = 'MR041';
  end if;
  return millrace.enqueue_stage(v_document, jsonb_build_object('job_type', 'document_image', 'payload', jsonb_build_object('page', p_page),
    'dedupe_key', 'image:' || p_file_id || ':' || p_page), null);
end;
$$;
