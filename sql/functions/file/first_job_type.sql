-- millrace.first_job_type: what begins with a file: the scan of the Guardian pipeline (U-07), or the ingestion of the BaseWorker RFC (U-11).
create or replace function millrace.first_job_type(p_pipeline text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case p_pipeline when 'ingest' then 'ingest_document' else 'fast_queue_security' end
$$;
