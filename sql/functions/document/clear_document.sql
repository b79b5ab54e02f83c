-- millrace.clear_document: what a document that ends badly may not hand out any longer, with the transaction that ends it. A file that is refused has no outputs, pages, results, facts, paid answers or published chunks, whatever
-- an earlier run made of it: only the report of the job that refused it stays; but where it is refused for being in quarantine alone, all stays: nothing was found in it. One that failed has no outputs of earlier runs: they tell of a document that is no more; what is known of its pages stays for the next try.
create or replace function millrace.clear_document(p_document millrace.document, p_state text, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_outputs integer;
  v_results integer := 0;
  v_facts integer := 0;
  v_chunks integer := 0;
  -- The first that this run has written. Where there is nothing, no output is of this run either.
  v_since timestamptz := (select min(r.created_at) from millrace.page_result r where r.file_id = p_document.file_id and r.run = p_document.run);
begin
  if p_state = 'rejected' and millrace.only_quarantined(p_document.findings) then
    return;
  end if;
  delete from millrace.document_output o where o.file_id = p_document.file_id and (p_state = 'rejected' or v_since is null or o.created_at < v_since);
  get diagnostics v_outputs = row_count;
  if p_state = 'rejected' then
    delete from millrace.page_result r where r.file_id = p_document.file_id and r.job_id is distinct from p_job_id;
    get diagnostics v_results = row_count;
    delete from millrace.clinical_fact c where c.file_id = p_document.file_id;
    get diagnostics v_facts = row_count;
    delete from millrace.page p where p.file_id = p_document.file_id;
    delete from millrace.paid_answer a where a.file_id = p_document.file_id;
    delete from millrace.document_chunks c where c.document_id = p_document.file_id;
    get diagnostics v_chunks = row_count;
    update millrace.generation g set state = 'superseded' where g.file_id = p_document.file_id and g.state = 'published';
    update millrace.document d set summary = '{}' where d.file_id = p_document.file_id and d.summary <> '{}';
  end if;
  if v_outputs + v_results + v_facts + v_chunks > 0 then
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
    select millrace.now(), p_document.tenant_id, millrace.actor(), 'document', p_document.file_id::text, 'DELETE', 'document_cleared', array_remove(array[p_job_id], null),
           jsonb_build_object('state', p_state, 'outputs', v_outputs, 'results', v_results, 'facts', v_facts, 'chunks', v_chunks), 'What earlier runs made of a document removed', 'clinical', f.patient_id
      from millrace.shell_files f where f.id = p_document.file_id;
  end if;
end;
$$;
