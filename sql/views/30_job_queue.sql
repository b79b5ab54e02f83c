-- millrace.job_queue: all jobs under the column names of the Guardian plan. A retry that waits is `pending`, as there; heartbeat_at is
-- the last beat, and lease_expires_at when the job is given to somebody else without another one. error_details are the errors of
-- the attempts of this generation, merged in order.
create or replace view millrace.job_queue with (security_invoker = true) as
select j.job_id as id, t.job_type, j.job_name, j.job_category, j.payload as job_payload,
       case j.status when 'retrying' then 'pending' else j.status end as status,
       j.priority::integer as priority, j.scheduled_at, j.started_at, j.finished_at as completed_at,
       j.attempt::integer as retry_count, coalesce(j.max_attempts, t.max_attempts, q.max_attempts) - 1 as max_retries,
       j.worker_id,
       greatest(j.renewed_at, (select w.beat_at from millrace.worker w where w.worker_id = j.worker_id and j.renewed_at is not null))
         as heartbeat_at,
       case j.status when 'failed' then j.finished_at end as dead_letter_at,
       (select millrace.jsonb_merge_agg(a.error order by a.attempt_seq) from millrace.attempt a
         where a.job_id = j.job_id and a.generation = j.generation) as error_details,
       j.result as job_result, j.created_at, j.changed_at as updated_at,
       least(j.lease_until, (select w.lease_until from millrace.worker w where w.worker_id = j.worker_id and j.lease_until is not null))
         as lease_expires_at
  from millrace.job_row j
  join millrace.job_type t on t.type_id = j.type_id
  join millrace.queue q on q.queue_id = j.queue_id;
