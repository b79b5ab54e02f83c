-- millrace.first_job: the job that begins with a file of a pipeline, as the current version says: job_type, and what else the stage has. Null for a pipeline that nobody registered;
-- guardian (U-07) and ingest (U-11) need no row: their files may come before the first worker.
create or replace function millrace.first_job(p_pipeline text) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select v.first_job from millrace.pipeline p join millrace.pipeline_version v on v.hash = p.hash where p.name = p_pipeline),
                  case p_pipeline when 'guardian' then '{"job_type": "fast_queue_security"}'::jsonb when 'ingest' then '{"job_type": "ingest_document"}'::jsonb end)
$$;
