-- millrace.stage_spec: a job of a document: whose it is, what set it off, and into which pipeline it belongs come from the document and the job before it.
create or replace function millrace.stage_spec(p_document millrace.document, p_spec jsonb, p_parent uuid) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object('owner_id', f.owner_id, 'pipeline', v.name, 'stage', p_spec ->> 'job_type', 'job_name', left(f.file_name, 256),
           'parent_id', p_parent, 'correlation_id', j.correlation_id, 'traceparent', j.traceparent))
         || p_spec || jsonb_build_object('payload', coalesce(p_spec -> 'payload', '{}') || jsonb_build_object('shell_file_id', p_document.file_id)
           -- Under the names of the RFC too, which the type of its job requires (U-11).
           || case p_spec ->> 'job_type' when 'ingest_document' then jsonb_build_object('document_id', f.id, 'raw_path', f.storage_path, 'user_id', f.owner_id) else '{}' end)
    from millrace.shell_files f
    join millrace.pipeline_version v on v.hash = p_document.pipeline_hash
    left join millrace.job_fact j on j.job_id = p_parent
   where f.id = p_document.file_id
$$;
