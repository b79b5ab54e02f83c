-- millrace.split_group: jobs of their own for pages of a group, like the job of the group and in its batch. That job has not ended for others, so neither has the batch, and nobody sees it unsealed.
create or replace function millrace.split_group(p_document millrace.document, p_pages integer[], p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_batch uuid;
  v_sealed timestamptz;
begin
  select j.batch_id, millrace.stage_spec(p_document, jsonb_strip_nulls(jsonb_build_object('job_type', t.job_type, 'queue', q.queue, 'max_attempts', j.max_attempts,
           'run_timeout_seconds', extract(epoch from j.run_timeout), 'batch_id', j.batch_id)), p_job_id)
    into strict v_batch, v_spec
    from millrace.job_fact j join millrace.job_type t on t.type_id = j.type_id join millrace.queue q on q.queue_id = j.queue_id
   where j.job_id = p_job_id;
  select b.sealed_at into v_sealed from millrace.batch b where b.batch_id = v_batch for no key update;
  update millrace.batch b set sealed_at = null where b.batch_id = v_batch;
  perform e.job_id from millrace.enqueue_specs(millrace.specs_from_json((
    select jsonb_agg(v_spec || jsonb_build_object('payload', (v_spec -> 'payload') || jsonb_build_object('page', u.page)) order by u.page) from unnest(p_pages) u(page))),
    p_document.tenant_id, true) e;
  update millrace.batch b set sealed_at = v_sealed where b.batch_id = v_batch;
end;
$$;
