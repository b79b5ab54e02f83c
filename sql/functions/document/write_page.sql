-- millrace.write_page: what goes with the result of a stage (millrace.put_results) for one page of a document that the caller holds: facts, audit with the patient. A page that was given up is taken up again; one of a document
-- that is being processed without it is taken up at its end ('late').
create or replace function millrace.write_page(p_document millrace.document, p_item jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_page integer := (p_item ->> 'page')::integer;
begin
  if p_item ? 'facts' then
    perform millrace.put_facts(p_document, v_page, p_item -> 'facts', p_job_id);
  end if;
  if p_document.state = 'processing' then
    update millrace.page p set failed_reason = 'late' where p.file_id = p_document.file_id and p.page = v_page and p.state = 'failed';
  else
    update millrace.page p set state = 'pending', failed_stage = null, failed_reason = null
     where p.file_id = p_document.file_id and p.page = v_page and p.state = 'failed';
  end if;
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
  select millrace.now(), p_document.tenant_id, millrace.actor(), 'page_result', p_document.file_id || '/' || v_page || '/' || (p_item ->> 'stage'), 'UPDATE', 'page_written',
         array[p_job_id], jsonb_strip_nulls(jsonb_build_object('sha256', coalesce(p_item #>> '{part,sha256}', p_item #>> '{blob,sha256}'), 'facts', jsonb_array_length(p_item -> 'facts'))),
         'Page of a document written', 'clinical', f.patient_id
    from millrace.shell_files f where f.id = p_document.file_id;
end;
$$;
