-- millrace.settle_stage: the job of a stage for a whole document is being settled: its results and outputs are written, pages that the stage before could not do are given up, and the next stage
-- is begun; without one the document has ended. A job that the document has left behind changes nothing. A stage per page that has only been reached (its job has no page) writes nothing and is begun here.
-- A document may have no pages (page_count null): then there is none to give up.
-- p_item: closes (the stage whose pages have ended), results (each as in millrace.put_results), pages_of (the stage of which results has all pages), outputs (kind, page, file_name, blob), summary, describes (kind, mime, page_count: of a stage that found out), rejected (findings: the file is refused, and ends here), pages_failed in the summary (of a parser), or an answer about the whole document that could not be used (`review` in the meta of the result; see millrace.keep_answer): the document is partial in the end. p_plan: as in millrace.start_stage, or null.
create or replace function millrace.settle_stage(p_job_id uuid, p_item jsonb, p_plan jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_patient uuid := (select f.patient_id from millrace.shell_files f where f.id = v_document.file_id);
  v_failed integer;
  v_lost millrace.page;
  v_lacks boolean;
begin
  if not millrace.awaits_job(v_document, p_job_id) then
    return;
  end if;
  v_document := millrace.reopen_document(v_document);
  if p_item ? 'describes' then
    update millrace.document d
       set kind = p_item #>> '{describes,kind}', mime = p_item #>> '{describes,mime}', page_count = (p_item #>> '{describes,page_count}')::integer, updated_at = v_now,
           -- It was read now: why it was refused before is past.
           findings = coalesce((select jsonb_agg(i) from jsonb_array_elements(d.findings) i where i ->> 'severity' is distinct from 'refuse'), '[]')
     where d.file_id = v_document.file_id returning d.* into v_document;
  end if;
  if p_item ? 'rejected' then
    update millrace.document d set findings = p_item -> 'rejected', updated_at = v_now where d.file_id = v_document.file_id returning d.* into v_document;
    perform millrace.end_document(v_document, 'rejected', p_job_id);
    return;
  end if;
  if p_item ? 'closes' then
    perform millrace.close_stage(v_document, p_item ->> 'closes');
  end if;
  perform millrace.put_results(v_document, coalesce(p_item -> 'results', '[]'), p_job_id);
  if p_item ? 'pages_of' then
    perform millrace.drop_stale(v_document, p_item ->> 'pages_of', array(select (i ->> 'page')::integer from jsonb_array_elements(p_item -> 'results') i), p_job_id);
  end if;
  if jsonb_array_length(p_item -> 'results') > 0 or jsonb_array_length(p_item -> 'outputs') > 0 then
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
    values (v_now, v_document.tenant_id, millrace.actor(), 'page_result', v_document.file_id || '/' || coalesce(p_item #>> '{results,0,stage}', 'document_outputs'), 'UPDATE',
            'stage_written', array[p_job_id], jsonb_build_object('results', coalesce(jsonb_array_length(p_item -> 'results'), 0),
            'outputs', coalesce(jsonb_array_length(p_item -> 'outputs'), 0)), 'Stage of a document written', 'clinical', v_patient);
  end if;
  perform millrace.put_outputs(v_document, p_item -> 'outputs', p_job_id);
  if p_item ? 'summary' then
    update millrace.document d set summary = d.summary || (p_item -> 'summary') where d.file_id = v_document.file_id returning d.* into v_document;
  end if;
  if p_item #> '{results,0,meta,review}' is not null then
    -- On the record of the file, as the dead letter of a page is (millrace.note_failures).
    update millrace.shell_files f
       set processing_error = millrace.add_error(f.processing_error, jsonb_build_object('job_type', p_item #>> '{results,0,stage}',
             'error_type', millrace.failure_class(millrace.stage_definition(v_document.pipeline_hash, p_item #>> '{results,0,stage}'), 'permanent', p_item #> '{results,0,meta,review}'),
             'error_message', left(p_item #>> '{results,0,meta,review,reason}', 1000), 'code', p_item #>> '{results,0,meta,review,error_type}', 'retry_count', 0, 'timestamp', v_now))
     where f.id = v_document.file_id;
  end if;
  select count(*) into v_failed from millrace.page p where p.file_id = v_document.file_id and p.state = 'failed';
  -- What one stage says of its pages is no word about those that another has lost.
  if coalesce((p_item ->> 'fail_on_page')::boolean, false) then
    select p.* into v_lost from millrace.page p
     where p.file_id = v_document.file_id and p.state = 'failed' and p.failed_stage = p_item ->> 'closes' order by p.page limit 1;
  end if;
  if p_plan is not null and (v_failed = 0 or v_failed < v_document.page_count) and v_lost.page is null then
    perform millrace.start_stage(v_document, p_plan, p_job_id);
    return;
  end if;
  -- Pages whose jobs were redriven, and ended after the document had gone on without them: it begins anew, for them.
  update millrace.page p set state = 'pending', failed_stage = null, failed_reason = null where p.file_id = v_document.file_id and p.state = 'failed' and p.failed_reason = 'late';
  if found then
    perform millrace.resume_document(v_document, (select v.first_job from millrace.pipeline_version v where v.hash = v_document.pipeline_hash), p_job_id);
    return;
  end if;
  if v_lost.page is not null then
    update millrace.shell_files f
       set processing_error = millrace.add_error(f.processing_error, jsonb_build_object('job_type', v_lost.failed_stage,
             'error_type', millrace.failure_class(millrace.stage_definition(v_document.pipeline_hash, v_lost.failed_stage), 'permanent', jsonb_build_object('error_type', v_lost.failed_reason)),
             'error_message', format('page %s failed in stage %s (%s), of which no page may be missing', v_lost.page, v_lost.failed_stage, v_lost.failed_reason),
             'code', 'page_failed', 'retry_count', 0, 'timestamp', v_now, 'page', v_lost.page))
     where f.id = v_document.file_id;
  end if;
  v_lacks := (jsonb_typeof(v_document.summary -> 'pages_failed') = 'array' and v_document.summary -> 'pages_failed' <> '[]')
             or exists (select from millrace.paid_answer a where a.file_id = v_document.file_id and a.page = 0 and a.refused is not null);
  perform millrace.end_document(v_document, case when v_failed = 0 then case when v_lacks then 'partial' else 'completed' end
    when v_failed < v_document.page_count and v_lost.page is null then 'partial' else 'failed' end, p_job_id);
end;
$$;
