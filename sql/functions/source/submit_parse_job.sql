-- millrace.submit_parse_job: the document of an ingest job is to be parsed by the parser outside that its pipeline names: its job is run next (millrace.process_job), and the worker that takes it asks the parser, once (B-05).
-- Answers the parser's id of the parse, null until it was asked in this run of the document. MR024 where the path is not that of the job's file.
create or replace function millrace.submit_parse_job(p_job_id uuid, p_document_path text) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files;
begin
  perform millrace.process_job(p_job_id);
  select s.* into v_file from millrace.job_fact f join millrace.shell_files s on s.id = millrace.uuid_or_null(f.payload ->> 'shell_file_id') and s.tenant_id = f.tenant_id where f.job_id = p_job_id;
  if v_file.storage_path is distinct from p_document_path then
    raise exception 'document_path must be that of the file of job %', p_job_id using errcode = 'MR024';
  end if;
  return (select r.remote_id from millrace.parse_request r join millrace.document d on d.file_id = r.file_id and d.run = r.run where r.file_id = v_file.id);
end;
$$;
