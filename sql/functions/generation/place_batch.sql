-- millrace.place_batch: the next chunks of a generation, p_limit at most, go from its buffers to document_chunks, each with its vector of the generation's model. Nobody sees them there before the
-- generation is published (millrace.hidden_generations). What is in place is in the buffers no more, so whoever comes after a death goes on with the rest. MR046 where a chunk is missing or has no
-- vector of the model (G07). Answers how many; 0: all of them are in place. For callers that hold the document.
create or replace function millrace.place_batch(p_generation_id uuid, p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_row millrace.generation;
  v_owner uuid;
  v_moved integer;
  v_count integer;
begin
  select g.* into strict v_row from millrace.generation g where g.generation_id = p_generation_id for no key update;
  if v_row.chunks_total is null or v_row.chunks_done <> v_row.chunks_total or v_row.vectors_done <> v_row.chunks_total then
    raise exception 'generation % has % of % chunks with vectors', p_generation_id, v_row.vectors_done, v_row.chunks_total using errcode = 'MR046';
  end if;
  select f.owner_id into v_owner from millrace.shell_files f where f.id = v_row.file_id;
  -- Unique source rows by the keys of both buffers: one vector of the model for each chunk, or the count is wrong.
  with next as materialized (
    select b.generation_id, b.chunk_id from millrace.document_chunk_buffer b where b.generation_id = p_generation_id order by b.chunk_ord limit p_limit),
  moved as (
    delete from millrace.document_chunk_buffer b using next n where b.generation_id = n.generation_id and b.chunk_id = n.chunk_id returning b.*),
  placed as (
    insert into millrace.document_chunks (document_id, chunk_id, generation_id, content_id, tenant_id, owner_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, heading_path,
        page_start, page_end, start_byte, end_byte, meta, embedding, vector_sha, embed_sha256, signature, embed_model, embed_version, embed_updated_at, config, words, created_at)
    select b.document_id, b.chunk_id, b.generation_id, b.content_id, b.tenant_id, v_owner, b.chunk_ord, b.chunker_name, b.chunker_version, b.chunk_sha, b.text,
           array(select jsonb_array_elements_text(b.meta -> 'headings')), (b.meta #>> '{page,0}')::integer, (b.meta #>> '{page,1}')::integer,
           (b.meta #>> '{offsets,start_byte}')::bigint, (b.meta #>> '{offsets,end_byte}')::bigint, b.meta, v.vector, v.vector_sha, b.embed_sha256, v.signature,
           v.embed_model, v.embed_version, v.created_at, b.config, b.words, v_now
      from moved b
      join millrace.document_vector_buffer v on v.generation_id = b.generation_id and v.chunk_id = b.chunk_id and v.embed_model = v_row.embed_model and v.embed_version = v_row.embed_version
    returning 1)
  select (select count(*) from moved), (select count(*) from placed) into v_moved, v_count;
  if v_moved <> v_count then
    raise exception 'generation %: % of % chunks have vectors', p_generation_id, v_count, v_moved using errcode = 'MR046';
  end if;
  if v_count > 0 then
    update millrace.generation g set chunks_placed = g.chunks_placed + v_count where g.generation_id = p_generation_id;
    return v_count;
  end if;
  -- The rows themselves, once: the switch goes by the figure.
  select count(*) into v_count from millrace.document_chunks c where c.generation_id = p_generation_id;
  if v_count <> v_row.chunks_total or v_row.chunks_placed <> v_row.chunks_total then
    raise exception 'generation % has % of % chunks in place', p_generation_id, v_count, v_row.chunks_total using errcode = 'MR046';
  end if;
  return 0;
end;
$$;
