-- millrace.jobs: the engine's overview, one row per job, with the engine's own words.
create or replace view millrace.jobs with (security_invoker = true) as
select j.job_id, j.tenant_id, q.queue, t.job_type, j.status, j.stage, j.priority::integer as priority, j.scheduled_at,
       j.created_at, j.started_at, j.finished_at, j.tries::integer as attempt,
       coalesce(j.max_attempts, t.max_attempts, q.max_attempts)::integer as max_attempts, j.delivery_count, j.worker_id,
       j.progress::integer as progress, j.progress_message,
       coalesce(j.error, case when j.status not in ('completed', 'cancelled') then
         (select a.error from millrace.attempt a
           where a.job_id = j.job_id and a.error is not null order by a.attempt_seq desc limit 1) end) as error,
       j.result, j.reason, j.correlation_id, j.batch_id, j.generation::integer as generation, j.owner_id
  from millrace.job_row j
  join millrace.job_type t on t.type_id = j.type_id
  join millrace.queue q on q.queue_id = j.queue_id;
