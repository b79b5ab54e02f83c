-- millrace.export_jobs: PDF exports under the column names of the Export dossier, with the three its queries use but its table lacks.
-- A user's token shows that user's rows alone.
create or replace view millrace.export_jobs with (security_invoker = true) as
select j.job_id as id, j.owner_id as user_id, millrace.uuid_or_null(j.payload ->> 'document_id') as document_id,
       coalesce(j.payload ->> 'format', 'pdf') as format, coalesce(j.payload -> 'options', '{}'::jsonb) as options,
       case when j.status in ('retrying', 'deferred') then 'pending' else j.status end as status,
       j.progress::integer as progress, j.tries::integer as attempts,
       coalesce(j.max_attempts, t.max_attempts, q.max_attempts)::integer as max_attempts, j.due_at as run_after,
       j.result ->> 'result_url' as result_url, millrace.json_integer(j.result, 'file_size') as file_size,
       millrace.json_integer(j.result, 'page_count') as page_count,
       case when j.status <> 'completed' then millrace.error_text(coalesce(j.error,
         (select a.error from millrace.attempt a where a.job_id = j.job_id and a.generation = j.generation and a.error is not null
           order by a.attempt_seq desc limit 1))) end as error_message,
       j.worker_id as locked_by, j.started_at, j.finished_at as completed_at, j.created_at,
       j.result ->> 'file_path' as file_path, j.batch_id, j.priority::integer as priority
  from millrace.job_row j
  join millrace.job_type t on t.type_id = j.type_id
  join millrace.queue q on q.queue_id = j.queue_id
 where j.type_id = (select e.type_id from millrace.job_type e where e.job_type = 'export_pdf');
