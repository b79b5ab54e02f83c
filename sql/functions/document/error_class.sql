-- millrace.error_class: the word of the source (G-06) for what went wrong in a job of a document.
create or replace function millrace.error_class(p_job_type text, p_outcome text, p_error jsonb) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_outcome = 'lost' then 'worker_timeout'
    when p_error ->> 'error_type' in ('connection_failed', 'connection_reset', 'connection_cut', 'network_error', 'dns') then 'network_error'
    when p_job_type like 'ai_queue%' and coalesce(p_error ->> 'error_type', '') ~ 'timeout|timed_out' then 'ai_timeout'
    when p_job_type like 'ai_queue%' or p_job_type = 'ingest_embed' then 'api_error'
    else 'ocr_failure' end
$$;
