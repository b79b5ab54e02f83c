-- millrace.document_json: a document as the API tells it: the file, how far it is, what was found.
create or replace function millrace.document_json(p_file millrace.shell_files) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document;
begin
  select d.* into v_document from millrace.document d where d.file_id = p_file.id;
  return jsonb_build_object('id', p_file.id, 'tenant_id', p_file.tenant_id, 'owner_id', p_file.owner_id, 'patient_id', p_file.patient_id, 'file_name', p_file.file_name,
    'size_bytes', p_file.size_bytes, 'sha256', encode(p_file.sha256, 'hex'), 'state', case when v_document.file_id is null then p_file.status else v_document.state end,
    'stage', case when v_document.state = 'processing' then v_document.stage end, 'stage_done', case when v_document.batch_id is not null then v_document.stage_done end, 'stage_total', case when v_document.batch_id is not null then v_document.stage_total end, 'kind', v_document.kind, 'mime', v_document.mime,
    'page_count', v_document.page_count, 'run', v_document.run, 'findings', coalesce(v_document.findings, '[]'), 'summary', coalesce(v_document.summary, '{}'),
    'pages_failed', (select count(*) from millrace.page p where p.file_id = p_file.id and p.state = 'failed')
       + case when jsonb_typeof(v_document.summary -> 'pages_failed') = 'array' then jsonb_array_length(v_document.summary -> 'pages_failed') else 0 end,
    'progress', (select jsonb_build_object('chunks_total', j -> 'chunks_total', 'chunks_done', j -> 'chunks_done', 'embeds_done', j -> 'embeds_done',
         'chunks_in_buffer', j -> 'chunks_in_buffer', 'vectors_in_buffer', j -> 'vectors_in_buffer')
       from (select millrace.generation_json(row(g.*)::millrace.generation) as j from millrace.generation g
              where g.file_id = p_file.id and g.state in ('building', 'published') order by (g.state = 'building') desc limit 1) x), 'job_id', coalesce(v_document.job_id, p_file.job_id),
    'processing_error', p_file.processing_error, 'pipeline', (select jsonb_build_object('name', v.name, 'version', v.version, 'hash', encode(v.hash, 'hex'))
      from millrace.pipeline_version v where v.hash = v_document.pipeline_hash),
    'created_at', p_file.created_at, 'started_at', v_document.started_at, 'finished_at', v_document.finished_at);
end;
$$;
