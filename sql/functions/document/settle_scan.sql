-- millrace.settle_scan: what the scan of a file found, in the transaction that settles its job. A file that is refused ends here; of any other the pages become rows, those that
-- changed since an earlier run are done again, and p_plan is begun (see millrace.start_stage). A job that the document has left behind changes nothing. p_scan: kind, mime, verdict, findings, pages, blob (the report), meta, outputs (as millrace.put_outputs: what can be handed out already).
create or replace function millrace.settle_scan(p_job_id uuid, p_scan jsonb, p_plan jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_refused boolean := p_scan ->> 'verdict' = 'refused';
  -- Then nobody has looked: what is known of the file stays.
  v_unread boolean := v_refused and millrace.only_quarantined(p_scan -> 'findings');
  v_patient uuid := (select f.patient_id from millrace.shell_files f where f.id = v_document.file_id);
  v_outputs integer := coalesce(jsonb_array_length(p_scan -> 'outputs'), 0);
  v_results integer;
  v_facts integer;
begin
  if not millrace.awaits_job(v_document, p_job_id) then
    return;
  end if;
  v_document := millrace.reopen_document(v_document);
  update millrace.document d
     set kind = coalesce(case when v_unread then d.kind end, p_scan ->> 'kind'), mime = coalesce(case when v_unread then d.mime end, p_scan ->> 'mime'), findings = coalesce(p_scan -> 'findings', '[]'),
         page_count = coalesce(case when v_unread then d.page_count end, jsonb_array_length(p_scan -> 'pages')), updated_at = v_now
   where d.file_id = v_document.file_id returning d.* into v_document;
  perform millrace.put_result(v_document, jsonb_build_object('page', 0, 'stage', p_scan ->> 'stage', 'reuse_key', p_scan ->> 'reuse_key', 'blob', p_scan -> 'blob', 'meta', p_scan -> 'meta'), p_job_id);
  perform millrace.audit_for(v_document.tenant_id, 'document', v_document.file_id::text, case when v_refused then 'document_rejected' else 'document_scanned' end, null,
    jsonb_build_object('job_id', p_job_id, 'kind', p_scan ->> 'kind', 'verdict', p_scan ->> 'verdict', 'pages', v_document.page_count,
      'rules', (select jsonb_agg(distinct i ->> 'rule') from jsonb_array_elements(v_document.findings) i)),
    'File scanned', v_patient);
  if v_refused then
    perform millrace.end_document(v_document, 'rejected', p_job_id);
    return;
  end if;
  delete from millrace.page p where p.file_id = v_document.file_id and p.page > v_document.page_count;
  delete from millrace.page_result r where r.file_id = v_document.file_id and r.page > v_document.page_count;
  get diagnostics v_results = row_count;
  delete from millrace.clinical_fact c where c.file_id = v_document.file_id and c.page > v_document.page_count;
  get diagnostics v_facts = row_count;
  delete from millrace.paid_answer a where a.file_id = v_document.file_id and a.page > v_document.page_count;
  insert into millrace.page as p (file_id, page, tenant_id, content_sha256, width_pt, height_pt, rotation_deg, text_chars)
  select v_document.file_id, (i ->> 'page')::integer, v_document.tenant_id, decode(i ->> 'content_sha256', 'hex'), (i ->> 'width_pt')::double precision,
         (i ->> 'height_pt')::double precision, coalesce((i ->> 'rotation_deg')::integer, 0), coalesce((i ->> 'text_chars')::integer, 0)
    from jsonb_array_elements(p_scan -> 'pages') i
  on conflict (file_id, page) do update
     set content_sha256 = excluded.content_sha256, width_pt = excluded.width_pt, height_pt = excluded.height_pt, rotation_deg = excluded.rotation_deg,
         text_chars = excluded.text_chars, state = 'pending', failed_stage = null, failed_reason = null;
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
  select v_now, v_document.tenant_id, millrace.actor(), 'page_result', v_document.file_id || '/' || (p_scan ->> 'stage'), w.operation, w.action, array[p_job_id], w.counts, w.reason, 'clinical', v_patient
    from (values (v_results + v_facts > 0, 'DELETE', 'stage_cleared', jsonb_build_object('results', v_results, 'facts', v_facts), 'Results of pages that are no more removed'),
                 (v_outputs > 0, 'UPDATE', 'stage_written', jsonb_build_object('outputs', v_outputs), 'Stage of a document written')) w(done, operation, action, counts, reason)
   where w.done;
  perform millrace.put_outputs(v_document, p_scan -> 'outputs', p_job_id);
  perform millrace.start_stage(v_document, p_plan, p_job_id);
end;
$$;
