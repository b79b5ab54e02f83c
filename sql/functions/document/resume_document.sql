-- millrace.resume_document: a document that the caller holds goes on with p_next (a job as in millrace.enqueue_jobs), once however many ask.
create or replace function millrace.resume_document(p_document millrace.document, p_next jsonb, p_parent uuid) returns uuid
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document := millrace.reopen_document(p_document);
  v_job uuid := millrace.enqueue_stage(v_document, p_next || jsonb_build_object('dedupe_key', 'resume:' || p_document.file_id), p_parent);
begin
  update millrace.document d set job_id = v_job, batch_id = null, stage = p_next ->> 'job_type', updated_at = millrace.now() where d.file_id = p_document.file_id;
  return v_job;
end;
$$;
