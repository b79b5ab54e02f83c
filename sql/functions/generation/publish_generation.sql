-- millrace.publish_generation: the switch: from one moment to the next readers see the chunks of this generation and none of the one before (F07, B-20 … B-22). In the transaction that settles
-- the job, so it is fenced, and cleans up if and only if it promotes (G06). MR046 where a chunk is missing or has no vector of the generation's model. A generation that is published already,
-- and a job that the document has left behind, change nothing.
create or replace function millrace.publish_generation(p_job_id uuid, p_generation_id uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_row millrace.generation;
  v_owner uuid;
  v_count integer;
begin
  if not millrace.awaits_job(v_document, p_job_id) then
    return;
  end if;
  select g.* into v_row from millrace.generation g where g.generation_id = p_generation_id and g.file_id = v_document.file_id for update;
  if not found then
    raise exception 'generation % of document % does not exist', p_generation_id, v_document.file_id using errcode = 'MR046';
  end if;
  if v_row.state <> 'building' then
    return;
  end if;
  select f.owner_id into v_owner from millrace.shell_files f where f.id = v_document.file_id;
  delete from millrace.document_chunks c where c.document_id = v_document.file_id;
  -- Unique source rows by the keys of both buffers: one vector of the model for each chunk, or the count is wrong (G07).
  insert into millrace.document_chunks (document_id, chunk_id, generation_id, content_id, tenant_id, owner_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, heading_path,
      page_start, page_end, start_byte, end_byte, meta, embedding, vector_sha, embed_sha256, signature, embed_model, embed_version, embed_updated_at, config, words, created_at)
  select b.document_id, b.chunk_id, b.generation_id, b.content_id, b.tenant_id, v_owner, b.chunk_ord, b.chunker_name, b.chunker_version, b.chunk_sha, b.text,
         array(select jsonb_array_elements_text(b.meta -> 'headings')), (b.meta #>> '{page,0}')::integer, (b.meta #>> '{page,1}')::integer,
         (b.meta #>> '{offsets,start_byte}')::bigint, (b.meta #>> '{offsets,end_byte}')::bigint, b.meta, v.vector, v.vector_sha, b.embed_sha256, v.signature,
         v.embed_model, v.embed_version, v.created_at, b.config, b.words, v_now
    from millrace.document_chunk_buffer b
    join millrace.document_vector_buffer v on v.generation_id = b.generation_id and v.chunk_id = b.chunk_id and v.embed_model = v_row.embed_model and v.embed_version = v_row.embed_version
   where b.generation_id = p_generation_id;
  get diagnostics v_count = row_count;
  if v_row.chunks_total is null or v_count <> v_row.chunks_total then
    raise exception 'generation % has % of % chunks with vectors', p_generation_id, v_count, v_row.chunks_total using errcode = 'MR046';
  end if;
  update millrace.generation g set state = 'superseded' where g.file_id = v_document.file_id and g.state = 'published';
  update millrace.generation g set state = 'published', published_at = v_now where g.generation_id = p_generation_id;
  delete from millrace.document_chunk_buffer b where b.generation_id = p_generation_id;
  perform millrace.audit_for(v_document.tenant_id, 'generation', p_generation_id::text, 'generation_published', null,
    jsonb_build_object('document_id', v_document.file_id, 'chunks', v_count, 'embed_model', v_row.embed_model, 'embed_version', v_row.embed_version, 'job_id', p_job_id),
    'Chunks of a document published', (select f.patient_id from millrace.shell_files f where f.id = v_document.file_id));
end;
$$;
