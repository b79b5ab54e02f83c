-- millrace.job: compute jobs under the column names and status words of the Stage 3 plan.
create or replace view millrace.job with (security_invoker = true) as
select j.job_id as id, j.tenant_id, j.payload ->> 'app_id' as app_id, j.payload ->> 'definition' as definition,
       j.payload ->> 'version' as version,
       case j.status when 'processing' then 'running' when 'completed' then 'succeeded' when 'failed' then 'failed'
                     when 'cancelled' then 'cancelled' else 'queued' end as status,
       j.payload ->> 'inputs_hash' as inputs_hash, coalesce(j.payload -> 'inputs', j.payload) as payload_json, j.tries::integer as attempts,
       j.priority::integer as priority,
       case when j.status <> 'completed' then coalesce(j.error,
         (select a.error from millrace.attempt a where a.job_id = j.job_id and a.generation = j.generation and a.error is not null
           order by a.attempt_seq desc limit 1)) end as last_error,
       j.created_at, j.started_at, j.finished_at as ended_at
  from millrace.job_row j
 where j.type_id = (select e.type_id from millrace.job_type e where e.job_type = 'compute_solve');
