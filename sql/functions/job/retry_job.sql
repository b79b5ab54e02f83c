-- millrace.retry_job: a job that waits runs now, one that failed starts again as a new generation: {"job_id", "answer"}. Answers that changed
-- something: ready, redriven; the others are those of millrace.redrive_jobs and millrace.run_now.
create or replace function millrace.retry_job(p_job_id uuid, p_reason text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_answer text;
begin
  select r.answer into v_answer from millrace.redrive_jobs(jsonb_build_object('job_ids', jsonb_build_array(p_job_id)), 1, null, p_reason) r
   where r.job_id = p_job_id;
  if v_answer = 'not_failed' then
    select r.answer into v_answer from millrace.run_now(array[p_job_id], p_reason) r where r.job_id = p_job_id;
  end if;
  return jsonb_build_object('job_id', p_job_id, 'answer', coalesce(v_answer, 'not_found'));
end;
$$;
