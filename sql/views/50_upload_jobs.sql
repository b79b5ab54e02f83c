-- millrace.upload_jobs: ingested documents under the column names of the BaseWorker RFC: job_id is the first job of the file, status its stage name, derived from the document
-- (millrace.ingest_state). Attempts and the last error are those of the stage that it is in (B-26). A webhook secret is never kept in a row.
create or replace view millrace.upload_jobs with (security_invoker = true) as
select j.job_id, j.owner_id as user_id, millrace.uuid_or_null(j.payload ->> 'document_id') as document_id,
       case when d.state is not null then d.state ->> 'status'
         else case j.status
           when 'completed' then 'complete'
           when 'cancelled' then 'cancelled'
           when 'failed' then case when s.stage in ('uploaded', 'parse_queued', 'parsed', 'parse_validated') then 'failed_parse'
                                   when s.stage in ('chunking', 'chunks_stored') then 'failed_chunking'
                                   else 'failed_embedding' end
           else s.stage end end as status,
       coalesce(j.payload ->> 'raw_path', '') as raw_path,
       coalesce(d.state ->> 'parsed_path', j.result ->> 'parsed_path', j.payload ->> 'parsed_path') as parsed_path,
       coalesce(d.state ->> 'parsed_sha256', j.result ->> 'parsed_sha256', j.payload ->> 'parsed_sha256') as parsed_sha256,
       coalesce(d.state ->> 'chunks_version', j.payload ->> 'chunks_version', 'markdown-simple@1') as chunks_version,
       coalesce(d.state ->> 'embed_model', j.payload ->> 'embed_model', 'text-embedding-3-small') as embed_model,
       coalesce(d.state ->> 'embed_version', j.payload ->> 'embed_version', '1') as embed_version,
       coalesce(d.state -> 'progress', j.progress_data, '{}'::jsonb) as progress, coalesce((d.state ->> 'attempt')::integer, j.attempt)::integer as retry_count,
       case when d.state is not null then nullif(d.state -> 'last_error', 'null')
            when j.status <> 'completed' then
         (select jsonb_build_object('error', millrace.error_text(a.error), 'retry_count', j.attempt, 'retry_at', j.due_at, 'error_type', a.error ->> 'error_type')
            from millrace.attempt a where a.job_id = j.job_id and a.generation = j.generation and a.error is not null
           order by a.attempt_seq desc limit 1) end as last_error,
       null::text as webhook_secret, j.created_at, greatest(j.changed_at, (d.state ->> 'changed_at')::timestamptz) as updated_at
  from millrace.job_row j
  cross join lateral (select coalesce(j.progress_data ->> 'stage', j.stage, 'uploaded') as stage) s
  cross join lateral (select millrace.ingest_state(j.job_id) as state) d
 where j.type_id = (select e.type_id from millrace.job_type e where e.job_type = 'ingest_document');
