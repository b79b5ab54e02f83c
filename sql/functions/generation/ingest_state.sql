-- millrace.ingest_state: how far the document of a job is, in the words of the BaseWorker RFC (B-01): status, parsed_path, parsed_sha256, chunks_version, embed_model, embed_version, progress (B-24), last_error,
-- and the job that it waits for, with its attempts and its last change. Derived from the stage, the place of its job and the rows that are there, so it cannot disagree with them. Null for a job that has no document yet, and for one
-- that the caller may not see.
create or replace function millrace.ingest_state(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files;
  v_document millrace.document;
  v_generation millrace.generation;
  v_progress jsonb := '{}';
  v_run text;
  v_held boolean;
  v_job record;
  v_status text;
begin
  select f.* into v_file from millrace.job_fact j join millrace.shell_files f on f.id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and f.tenant_id = j.tenant_id
   where j.job_id = p_job_id and millrace.job_visible(j.tenant_id, j.owner_id, millrace.tenant_scope());
  if not found then
    return null;
  end if;
  select d.* into v_document from millrace.document d where d.file_id = v_file.id;
  if not found then
    return null;
  end if;
  select g.* into v_generation from millrace.generation g where g.file_id = v_file.id and g.state in ('building', 'published') order by (g.state = 'building') desc limit 1;
  if v_generation.generation_id is not null then
    v_progress := millrace.generation_json(v_generation) - '{generation_id,parsed_sha256,chunks_version,embed_model,embed_version,dimension,state}'::text[];
  end if;
  -- What its stage does, by the version of the pipeline that it is bound to.
  select s ->> 'run' into v_run from millrace.pipeline_version v cross join lateral jsonb_array_elements(v.definition -> 'stage') s
   where v.hash = v_document.pipeline_hash and s ->> 'name' = v_document.stage;
  select o.attempt, o.changed_at into v_job from millrace.job_row o where o.job_id = v_document.job_id;
  v_held := exists (select from millrace.lease l where l.job_id = v_document.job_id);
  v_status := case
    when v_document.state in ('completed', 'partial') then 'complete'
    when v_document.state in ('failed', 'rejected') then
      case v_run when 'parse' then 'failed_parse' when 'validate' then 'failed_parse' when 'chunk' then 'failed_chunking' else 'failed_embedding' end
    when v_run = 'parse' then case when exists (select from millrace.parse_request r where r.file_id = v_file.id and r.run = v_document.run and r.state in ('asked', 'waiting')) then 'parse_queued' else 'uploaded' end
    when v_run = 'validate' then 'parsed'
    when v_run = 'chunk' then case when v_held then 'chunking' else 'parse_validated' end
    when v_run = 'embed' then case when coalesce((v_progress ->> 'embeds_done')::integer, 0) > 0 then 'embedding_in_progress' when v_held then 'embedding_queued' else 'chunks_stored' end
    else 'embeddings_stored' end;
  return jsonb_build_object('status', v_status, 'job_id', v_document.job_id, 'attempt', v_job.attempt, 'changed_at', v_job.changed_at, 'document_id', v_file.id, 'state', v_document.state,
    -- Where there is a text: millrace.parsed_object.
    'parsed_path', case when (v_generation.generation_id is not null or v_status not in ('uploaded', 'parse_queued', 'failed_parse'))
                         and (millrace.parsed_text(v_document)).file_id is not null then
       format('storage://%s/parsed/%s.md', v_file.owner_id, v_file.id) end,
    'parsed_sha256', (select coalesce(encode(v_generation.parsed_sha256, 'hex'), max(encode(r.sha256, 'hex'))) from millrace.page_result r
       where r.file_id = v_file.id and r.page = 0 and r.meta ? 'parsed_sha256'),
    'chunks_version', v_generation.chunker_name || '@' || v_generation.chunker_version, 'embed_model', v_generation.embed_model, 'embed_version', v_generation.embed_version,
    'progress', v_progress,
    -- Of the stage that it is in, or that it ended in; what an earlier one overcame does not count (R-12).
    'last_error', case when v_document.state not in ('completed', 'partial') and v_file.processing_error #>> '{current_error,job_type}' = v_document.stage then
       jsonb_build_object('error', v_file.processing_error #>> '{current_error,error_message}', 'retry_count', v_file.processing_error #> '{current_error,retry_count}',
         'retry_at', v_file.processing_error #> '{current_error,next_retry_at}', 'error_type', v_file.processing_error #>> '{current_error,code}') end);
end;
$$;
