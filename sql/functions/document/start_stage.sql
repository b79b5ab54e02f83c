-- millrace.start_stage: begins a stage of a document that the caller holds. A stage for the whole document is one job. A stage per page is a job for every page whose result is not
-- there already (its own of an earlier run, or an equal page of the tenant's), in a batch whose callback is the job of the next stage; with nothing to do that job comes at once.
-- p_plan: stage, each ('page' or 'document'), version, inputs, job (fields for its jobs), next (the job after it, of a stage per page), tokens (of a stage that asks a model: what
-- a question may take besides the words of the page), group (pages: so many at most are one job; text_chars_min: those with fewer letters of their own go alone).
create or replace function millrace.start_stage(p_document millrace.document, p_plan jsonb, p_parent uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_stage text := p_plan ->> 'stage';
  v_job uuid;
  v_batch uuid;
  v_pages integer[];
  v_total integer;
  v_most integer := coalesce((p_plan #>> '{group,pages}')::integer, 1);
begin
  if p_plan ->> 'each' = 'document' then
    v_job := millrace.enqueue_stage(p_document, (p_plan -> 'job') || jsonb_build_object('job_type', v_stage,
      'payload', jsonb_strip_nulls(jsonb_build_object('estimated_tokens', millrace.page_tokens(p_document.file_id, 0, v_stage, p_plan)))), p_parent);
  else
    perform millrace.quarantine_pages(p_document.file_id, v_stage);
    select count(*) into v_total from millrace.page p where p.file_id = p_document.file_id and p.state <> 'failed';
    v_pages := millrace.reuse_pages(p_document, v_stage, p_plan ->> 'version', array(select jsonb_array_elements_text(p_plan -> 'inputs')));
    if cardinality(v_pages) = 0 then
      v_job := millrace.enqueue_stage(p_document, p_plan -> 'next', p_parent);
    else
      v_batch := millrace.new_id();
      insert into millrace.batch (batch_id, tenant_id, name, callback, callback_on, created_at, created_by)
      values (v_batch, p_document.tenant_id, left(v_stage || ' ' || p_document.file_id, 200), millrace.stage_spec(p_document, p_plan -> 'next', p_parent), 'finished', v_now, millrace.actor());
      perform e.job_id from millrace.enqueue_specs(millrace.specs_from_json((
        select jsonb_agg(b.spec || jsonb_build_object('batch_id', v_batch, 'payload', (b.spec -> 'payload')
                           || jsonb_strip_nulls(jsonb_build_object('page', u.pages[1], 'pages', case when cardinality(u.pages) > 1 then to_jsonb(u.pages) end,
                                'estimated_tokens', millrace.page_tokens(p_document.file_id, u.pages[1], v_stage, p_plan)))) order by u.pages[1])
          from (select array_agg(g.page order by g.page) as pages
                  -- Four jobs at least, where there are pages enough: several workers may take them.
                  from (select p.page, p.alone, case when p.alone then p.page
                                 else (row_number() over (partition by p.alone order by p.page) - 1) / least(v_most, greatest(1, (cardinality(v_pages) + 3) / 4)) end as part
                          from (select x.page, v_most = 1 or x.text_chars < coalesce((p_plan #>> '{group,text_chars_min}')::integer, 0) as alone
                                  from millrace.page x where x.file_id = p_document.file_id and x.page = any (v_pages)) p) g
                 group by g.alone, g.part) u,
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
         stage = case when v_batch is null and p_plan ->> 'each' = 'page' then p_plan #>> '{next,job_type}' else v_stage end, job_id = v_job, batch_id = v_batch, updated_at = v_now,
         stage_total = v_total, stage_done = v_total - cardinality(v_pages)
   where d.file_id = p_document.file_id;
end;
$$;
