-- millrace.settle_image: a picture of a page that somebody asked for, in the transaction that settles its job. Changes nothing else of the document. Of one that was refused meanwhile none is shown, and none of a page
-- whose results are newer than the job: it may show those before, which nobody would notice any more (as millrace.end_document clears them). Whoever asks again gets a new one.
create or replace function millrace.settle_image(p_job_id uuid, p_output jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.lock_document(p_job_id);
begin
  if v_document.state = 'rejected'
     or exists (select from millrace.page_result r where r.file_id = v_document.file_id and r.page = (p_output ->> 'page')::integer and r.created_at >= millrace.id_time(p_job_id) + interval '1 millisecond') then
    return;
  end if;
  perform millrace.put_outputs(v_document, jsonb_build_array(p_output), p_job_id);
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
  select millrace.now(), v_document.tenant_id, millrace.actor(), 'document_output', v_document.file_id || '/image/' || (p_output ->> 'page'), 'UPDATE', 'output_written', array[p_job_id],
         jsonb_build_object('sha256', p_output #>> '{blob,sha256}'), 'Picture of a page written', 'clinical', f.patient_id
    from millrace.shell_files f where f.id = v_document.file_id;
end;
$$;
