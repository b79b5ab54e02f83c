-- millrace.audit_jobs: audit and event rows of an operator's act on jobs that changes no counter.
create or replace function millrace.audit_jobs(p_action text, p_job_ids uuid[], p_reason text) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  with f as materialized (
    select j.tenant_id, j.queue_id, j.job_id from millrace.job_fact j where j.job_id = any (p_job_ids)),
  a as (
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, reason)
    select millrace.now(), f.tenant_id, millrace.actor(), 'job_queue', case when count(*) = 1 then min(f.job_id::text) end, 'UPDATE', p_action,
           array_agg(f.job_id), p_reason from f group by f.tenant_id)
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids)
  select millrace.now(), f.tenant_id, 'job.' || p_action, f.queue_id, array_agg(f.job_id) from f group by f.tenant_id, f.queue_id;
end;
$$;
