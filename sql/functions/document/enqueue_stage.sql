-- millrace.enqueue_stage: the job of a stage for a whole document; p_spec as in millrace.enqueue_jobs, its payload gets the document.
create or replace function millrace.enqueue_stage(p_document millrace.document, p_spec jsonb, p_parent uuid) returns uuid
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_job uuid;
begin
  select e.job_id into strict v_job from millrace.enqueue_specs(millrace.specs_from_json(millrace.stage_spec(p_document, p_spec, p_parent)), p_document.tenant_id, true) e;
  return v_job;
end;
$$;
