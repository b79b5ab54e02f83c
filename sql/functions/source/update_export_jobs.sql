-- millrace.update_export_jobs: update on export_jobs by a service, as the Export dossier words it. A job is no row that anybody writes: what the
-- columns say happens to the delivery that is under way, by the fenced functions, or not at all.
--   {status: 'completed', result_url, file_size, page_count, file_path}   the job is done, and this is its result
--   {status: 'failed', error_message}                                     it is a dead letter
--   {status: 'pending', run_after, error_message}                         this attempt has failed; the next one comes after run_after
--   {progress}                                                            never backwards; the answer shows whether the job was cancelled
-- progress and completed_at may stand beside a status and are the engine's. Any other column or status is refused (42501).
-- p_deliveries: "<job id> <locked_by>", as the caller's filter saw them; a filter on locked_by names one delivery for sure. A delivery that is over, or held by a
-- worker process, which settles by itself: MR001, and nothing is changed. The worker that has completed a job may say so again. Answers rows of the view.
create or replace function millrace.update_export_jobs(p_deliveries text[], p_patch jsonb) returns setof jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_status text := p_patch ->> 'status';
  v_allowed text[];
  v_bad text;
  v_delivery text;
  v_job uuid;
  v_worker text;
  v_done boolean;
begin
  if jsonb_typeof(p_patch) is distinct from 'object' then
    raise exception 'p_patch must be a JSON object' using errcode = 'MR024';
  end if;
  v_allowed := case when not p_patch ? 'status' then array['progress']
                    when v_status = 'completed' then array['status', 'progress', 'completed_at', 'result_url', 'file_size', 'page_count', 'file_path']
                    when v_status = 'failed' then array['status', 'progress', 'completed_at', 'error_message']
                    when v_status = 'pending' then array['status', 'progress', 'run_after', 'error_message']
                    else '{}' end;
  select k into v_bad from jsonb_object_keys(p_patch) k where k <> all (v_allowed) order by k limit 1;
  if v_bad is not null then
    raise exception 'permission denied for column % of export_jobs', quote_ident(v_bad) using errcode = '42501';
  end if;
  for v_delivery in select d from unnest(p_deliveries) d order by d loop
    v_job := left(v_delivery, 36)::uuid;
    v_worker := nullif(substr(v_delivery, 38), '');
    if not exists (select from millrace.job_fact f join millrace.job_type t on t.type_id = f.type_id
                    where f.job_id = v_job and t.job_type = 'export_pdf' and (v_scope is null or f.tenant_id = v_scope)) then
      raise exception 'job % does not exist', v_job using errcode = 'MR009';
    end if;
    if exists (select from millrace.lease l where l.job_id = v_job and l.process is not null) then
      v_done := false;
    elsif v_status is null then
      perform millrace.update_job_progress(v_job, (p_patch ->> 'progress')::integer);
      v_done := true;
    elsif v_status = 'completed' then
      v_done := millrace.complete_job(v_job, v_worker, p_patch - array['status', 'progress', 'completed_at']);
    else
      v_done := millrace.fail_job(v_job, v_worker, jsonb_build_object('message', coalesce(p_patch ->> 'error_message', 'set to ' || v_status || ' by a service')),
        v_status = 'pending',
        case when p_patch ->> 'run_after' is not null
             then least(86400, greatest(0, ceil(extract(epoch from (p_patch ->> 'run_after')::timestamptz - millrace.now()))))::integer end);
    end if;
    if not v_done then
      raise exception 'job % is not under way, or a worker process holds it', v_job using errcode = 'MR001', hint = 'read the job again';
    end if;
    -- In a statement of its own, which sees what was done.
    return query select to_jsonb(e) from millrace.export_jobs e where e.id = v_job;
  end loop;
end;
$$;
