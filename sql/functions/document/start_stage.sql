-- millrace.start_stage: begins a stage of a document that the caller holds. A stage for the whole document is one job. A stage per page is a job for every page whose result is not
-- there already (its own of an earlier run, or an equal page of the tenant's), in a batch whose callback is the job of the next stage; with nothing to do that job comes at once.
-- p_plan: stage, each ('page' or 'document'), version, inputs, job (fields for its jobs), next (the job after it, of a stage per page), tokens (of a stage that asks a model: what
-- a question may take besides the words of the page).
create or replace function millrace.start_stage(p_document millrace.document, p_plan jsonb, p_parent uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_stage text := p_plan ->> 'stage';
  v_job uuid;
  v_batch uuid;
  v_pages integer[];
begin
  if p_plan ->> 'each' = 'document' then
    v_job := millrace.enqueue_stage(p_document, (p_plan -> 'job') || jsonb_build_object('job_type', v_stage,
      'payload', jsonb_strip_nulls(jsonb_build_object('estimated_tokens', millrace.page_tokens(p_document.file_id, 0, v_stage, p_plan)))), p_parent);
  else
    perform millrace.quarantine_pages(p_document.file_id, v_stage);
    v_pages := millrace.reuse_pages(p_document, v_stage, p_plan ->> 'version', array(select jsonb_array_elements_text(p_plan -> 'inputs')));
    if cardinality(v_pages) = 0 then
      v_job := millrace.enqueue_stage(p_document, p_plan -> 'next', p_parent);
    else
      v_batch := millrace.new_id();
      insert into millrace.batch (batch_id, tenant_id, name, callback, callback_on, created_at, created_by)
      values (v_batch, p_document.tenant_id, left(v_stage || ' ' || p_document.file_id, 200), millrace.stage_spec(p_document, p_plan -> 'next', p_parent), 'finished', v_now, millrace.actor());
      perform e.job_id from millrace.enqueue_specs(millrace.specs_from_json((
        select jsonb_agg(b.spec || jsonb_build_object('batch_id', v_batch, 'payload', (b.spec -> 'payload')
                           || jsonb_strip_nulls(jsonb_build_object('page', u.page, 'estimated_tokens', millrace.page_tokens(p_document.file_id, u.page, v_stage, p_plan)))) order by u.page)
          from unnest(v_pages) u(page),
               (select millrace.stage_spec(p_document, (p_plan -> 'job') || jsonb_build_object('job_type', v_stage), p_parent) as spec) b)),
        p_document.tenant_id, true) e;
      update millrace.batch b set sealed_at = v_now where b.batch_id = v_batch;
      insert into millrace.handoff (kind, tenant_id, batch_id) values ('batch', p_document.tenant_id, v_batch);
    end if;
  end if;
  if p_document.state <> 'processing' then
    -- It had ended, and one of its jobs was started again.
    update millrace.shell_files f set status = 'processing', updated_at = v_now where f.id = p_document.file_id;
  end if;
  update millrace.document d
     set state = 'processing', finished_at = null, run = case when d.state = 'processing' then d.run else d.run + 1 end,
         stage = case when v_batch is null and p_plan ->> 'each' = 'page' then p_plan #>> '{next,job_type}' else v_stage end, job_id = v_job, batch_id = v_batch, updated_at = v_now
   where d.file_id = p_document.file_id;
end;
$$;
