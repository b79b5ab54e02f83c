-- millrace.drop_stale: removes what a stage once made of pages of a document that shows, or reads, something else now: p_keep holds the pages whose results are good. With a result of facts
-- go the facts. A result that is there is a result that counts.
create or replace function millrace.drop_stale(p_document millrace.document, p_stage text, p_keep integer[], p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone integer;
begin
  with gone as (
    delete from millrace.page_result r where r.file_id = p_document.file_id and r.stage = p_stage and r.page > 0 and not r.page = any (p_keep) returning r.page, r.meta),
  facts as (
    delete from millrace.clinical_fact c using gone g where c.file_id = p_document.file_id and c.page = g.page and g.meta ? 'facts')
  select count(*) into v_gone from gone;
  if v_gone > 0 then
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason, category, patient_id)
    select millrace.now(), p_document.tenant_id, millrace.actor(), 'page_result', p_document.file_id || '/' || p_stage, 'DELETE', 'stage_cleared', array_remove(array[p_job_id], null),
           jsonb_build_object('results', v_gone), 'Results for what pages no longer show removed', 'clinical', f.patient_id
      from millrace.shell_files f where f.id = p_document.file_id;
  end if;
end;
$$;
