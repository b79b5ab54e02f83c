-- millrace.end_document: the last word on a document that the caller holds, for those who read the file and those who follow it. One that is refused or has failed hands out nothing of earlier runs.
create or replace function millrace.end_document(p_document millrace.document, p_state text, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_patient uuid;
begin
  update millrace.document d set state = p_state, finished_at = v_now, updated_at = v_now, job_id = null, batch_id = null where d.file_id = p_document.file_id;
  if p_state in ('completed', 'partial') then
    update millrace.page p set state = 'completed' where p.file_id = p_document.file_id and p.state = 'pending';
    -- Pictures of what pages no longer say: whoever asks gets a new one.
    with gone as (
      delete from millrace.document_output o where o.file_id = p_document.file_id and o.kind = 'image'
         and exists (select from millrace.page_result r where r.file_id = o.file_id and r.page = o.page and r.created_at >= millrace.id_time(o.job_id) + interval '1 millisecond') returning o.page)
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, old_values, reason, category, patient_id)
    select v_now, p_document.tenant_id, millrace.actor(), 'document_output', p_document.file_id || '/image', 'DELETE', 'pictures_cleared', array_remove(array[p_job_id], null),
           jsonb_build_object('pages', jsonb_agg(g.page order by g.page)), 'Pictures of pages that say something else now removed', 'clinical', f.patient_id
      from gone g join millrace.shell_files f on f.id = p_document.file_id group by f.patient_id;
  else
    perform millrace.clear_document(p_document, p_state, p_job_id);
  end if;
  update millrace.shell_files f
     set status = p_state, updated_at = v_now,
         processing_error = case when p_state = 'completed' then millrace.resolve_error(f.processing_error)
                                 when p_state = 'partial' then millrace.resolve_partly(f.id, f.processing_error)
                                 when p_state = 'rejected' then millrace.add_error(f.processing_error, jsonb_build_object('job_type', p_document.stage,
                                   'error_type', millrace.failure_class(millrace.stage_definition(p_document.pipeline_hash, p_document.stage), 'permanent', '{"error_type": "rejected"}'),
                                   'error_message', (select string_agg(distinct i ->> 'rule', ', ') from jsonb_array_elements(p_document.findings) i where i ->> 'severity' = 'refuse'),
                                   'code', 'rejected', 'retry_count', 0, 'timestamp', v_now)) else f.processing_error end
   where f.id = p_document.file_id returning f.patient_id into v_patient;
  perform millrace.audit_for(p_document.tenant_id, 'document', p_document.file_id::text, 'document_' || p_state, jsonb_build_object('state', p_document.state),
    jsonb_strip_nulls(jsonb_build_object('state', p_state, 'job_id', p_job_id, 'run', p_document.run)), 'Document ' || p_state, v_patient);
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids, data)
  select v_now, p_document.tenant_id, 'document.finished', (select j.queue_id from millrace.job_fact j where j.job_id = p_job_id), coalesce(array[p_job_id], '{}'),
         jsonb_build_object('file_id', p_document.file_id, 'state', p_state);
end;
$$;
