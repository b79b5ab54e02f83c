-- millrace.settle_page: what a stage made of one page, in the transaction that settles its job (so behind the fence): result, facts, audit with the patient. A page that was given
-- up is taken up again, and so is a document that had ended without it; one that is being processed without it takes it up at its end ('late').
-- p_item: as millrace.put_result, and `facts`; p_next: the job that goes on with the document.
create or replace function millrace.settle_page(p_job_id uuid, p_item jsonb, p_next jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_page integer := (p_item ->> 'page')::integer;
  v_patient uuid := (select f.patient_id from millrace.shell_files f where f.id = v_document.file_id);
begin
  if not exists (select from millrace.page p where p.file_id = v_document.file_id and p.page = v_page) then
    raise exception 'document % has no page %', v_document.file_id, v_page using errcode = 'MR041';
  end if;
  perform millrace.put_result(v_document, p_item, p_job_id);
  if p_item ? 'facts' then
    perform millrace.put_facts(v_document, v_page, p_item -> 'facts', p_job_id);
  end if;
  if v_document.state = 'processing' then
    update millrace.page p set failed_reason = 'late' where p.file_id = v_document.file_id and p.page = v_page and p.state = 'failed';
  else
    update millrace.page p set state = 'pending', failed_stage = null, failed_reason = null
     where p.file_id = v_document.file_id and p.page = v_page and p.state = 'failed';
  end if;
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
  values (millrace.now(), v_document.tenant_id, millrace.actor(), 'page_result', v_document.file_id || '/' || v_page || '/' || (p_item ->> 'stage'), 'UPDATE', 'page_written',
          array[p_job_id], jsonb_strip_nulls(jsonb_build_object('sha256', p_item #>> '{blob,sha256}', 'facts', jsonb_array_length(p_item -> 'facts'))),
          'Page of a document written', 'clinical', v_patient);
  if v_document.state <> 'processing' and p_next is not null then
    perform millrace.resume_document(v_document, p_next, p_job_id);
  end if;
end;
$$;
