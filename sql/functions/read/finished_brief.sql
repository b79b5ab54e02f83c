-- millrace.finished_brief: the rest of a brief whose job has ended: from its newest generation.
create or replace function millrace.finished_brief(p_job millrace.job_brief, p_full boolean) returns millrace.job_brief
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_job millrace.job_brief := p_job;
begin
  select h.status, h.reason, h.attempt, h.delivery_count, h.generation, h.started_at, h.finished_at, h.worker_id, h.progress, h.progress_data,
         case when p_full then h.result end, h.error
    into v_job.status, v_job.reason, v_job.attempt, v_job.delivery_count, v_job.generation, v_job.started_at, v_job.finished_at, v_job.worker_id,
         v_job.progress, v_job.progress_data, v_job.result, v_job.error
    from millrace.job_history h where h.job_id = p_job.job_id and h.redriven_at is null order by h.generation desc limit 1;
  return v_job;
end;
$$;
