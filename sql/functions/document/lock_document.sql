-- millrace.lock_document: the document of a job that is being settled, locked; MR039 when its file was deleted meanwhile.
create or replace function millrace.lock_document(p_job_id uuid) returns millrace.document
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document;
begin
  select d.* into v_document from millrace.job_fact j
    join millrace.document d on d.file_id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and d.tenant_id = j.tenant_id
   where j.job_id = p_job_id for no key update of d;
  if not found then
    raise exception 'the file of job % does not exist any more', p_job_id using errcode = 'MR039';
  end if;
  return v_document;
end;
$$;
