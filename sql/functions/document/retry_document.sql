-- millrace.retry_document: begins a document anew that has ended: what is known of its pages stays, what failed is done again. MR042 while it is being processed, and
-- while its content is in quarantine: it would only be refused. Answers the job.
create or replace function millrace.retry_document(p_file_id uuid) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document;
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
  v_unbegun boolean;
  v_job uuid;
begin
  select d.* into v_document from millrace.document d where d.file_id = p_file_id for no key update;
  v_unbegun := not found and v_file.job_id is not null and millrace.place_of(v_file.job_id) in ('final', 'not_found');
  if not v_unbegun and (v_document.file_id is null or v_document.state = 'processing') then
    raise exception 'document % is being processed', p_file_id using errcode = 'MR042';
  end if;
  if exists (select from millrace.quarantine q where q.tenant_id = v_file.tenant_id and q.sha256 = v_file.sha256 and q.released_at is null) then
    raise exception 'the content % of document % is in quarantine', encode(v_file.sha256, 'hex'), p_file_id
      using errcode = 'MR042', detail = 'quarantined', hint = format('millrace documents release %s lets it be read again', encode(v_file.sha256, 'hex'));
  end if;
  if v_unbegun then
    -- Its first job ended before the document was begun.
    update millrace.shell_files f set status = 'uploaded', updated_at = millrace.now() where f.id = p_file_id returning f.* into v_file;
    v_file := millrace.start_file(v_file, null, null, 'document_retried');
    return jsonb_build_object('id', p_file_id, 'job_id', v_file.job_id, 'run', 1);
  end if;
  update millrace.page p set state = 'pending', failed_stage = null, failed_reason = null where p.file_id = p_file_id and p.state = 'failed';
  -- On the version that it began with: that one has this stage.
  v_job := millrace.resume_document(v_document, (select v.first_job from millrace.pipeline_version v where v.hash = v_document.pipeline_hash), null);
  update millrace.shell_files f set job_id = v_job where f.id = p_file_id;
  perform millrace.audit_for(v_document.tenant_id, 'document', p_file_id::text, 'document_retried', jsonb_build_object('state', v_document.state),
    jsonb_build_object('job_id', v_job, 'run', v_document.run + 1), 'Document begun anew', v_file.patient_id);
  return jsonb_build_object('id', p_file_id, 'job_id', v_job, 'run', v_document.run + 1);
end;
$$;
