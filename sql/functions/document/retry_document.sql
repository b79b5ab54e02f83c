-- millrace.retry_document: begins a document anew that has ended: what is known of its pages stays, what failed is done again. MR042 while it is being processed. Answers the job.
create or replace function millrace.retry_document(p_file_id uuid) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document;
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
  v_job uuid;
begin
  select d.* into v_document from millrace.document d where d.file_id = p_file_id for no key update;
  if not found or v_document.state = 'processing' then
    raise exception 'document % is being processed', p_file_id using errcode = 'MR042';
  end if;
  update millrace.page p set state = 'pending', failed_stage = null, failed_reason = null where p.file_id = p_file_id and p.state = 'failed';
  v_job := millrace.resume_document(v_document, jsonb_build_object('job_type', millrace.first_job_type(v_file.pipeline)), null);
  update millrace.shell_files f set job_id = v_job where f.id = p_file_id;
  perform millrace.audit_for(v_document.tenant_id, 'document', p_file_id::text, 'document_retried', jsonb_build_object('state', v_document.state),
    jsonb_build_object('job_id', v_job, 'run', v_document.run + 1), 'Document begun anew', v_file.patient_id);
  return jsonb_build_object('id', p_file_id, 'job_id', v_job, 'run', v_document.run + 1);
end;
$$;
