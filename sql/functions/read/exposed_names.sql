-- millrace.exposed_names: what `migrate up --expose` offers under the sources' own names in another schema.
create or replace function millrace.exposed_names() returns table (kind text, name text)
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  values ('function', 'enqueue_job_v3'), ('function', 'claim_next_job_v3'), ('function', 'claim_next_job'), ('function', 'update_job_heartbeat'),
         ('function', 'reschedule_job'), ('function', 'complete_job'), ('function', 'fail_job'), ('function', 'cancel_job'),
         ('function', 'acquire_api_capacity'), ('function', 'release_api_capacity'), ('function', 'create_export_job'),
         ('function', 'fetch_next_export_job'), ('function', 'log_audit_event'),
         ('view', 'job_queue'), ('view', 'export_jobs'), ('view', 'upload_jobs'), ('view', 'job')
$$;
