-- millrace.first_job_type: what begins with a file: the scan of the Guardian pipeline (U-07), the ingestion of the BaseWorker RFC (U-11), or the first stage of a pipeline that
-- workers have registered. Null where none has.
create or replace function millrace.first_job_type(p_pipeline text) returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select millrace.first_job(p_pipeline) ->> 'job_type'
$$;
