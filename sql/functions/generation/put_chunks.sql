-- millrace.put_chunks: some chunks of a generation, in its buffer; fenced by the lease. Said again they change nothing; one that differs from what lies at its place replaces it, and its vector
-- goes (B-12). What is in place already, of a publishing that was given up, is not buffered again. Keeps the generation's figures. p_chunks: chunk_id, content_id, chunk_ord, chunk_sha, embed_sha256 (both hexadecimal), text, meta.
create or replace function millrace.put_chunks(p_job_id uuid, p_token uuid, p_generation_id uuid, p_chunks jsonb) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_row millrace.generation := millrace.hold_generation(p_job_id, p_token, p_generation_id);
  v_config regconfig;
  v_count integer;
  v_vectors integer;
  v_displaced integer := 0;
  v_new integer;
begin
  -- Nobody said the language: the first chunks tell it, and all others are counted in the same one.
  if v_row.language is null then
    v_row.language := millrace.text_language((select string_agg(i ->> 'text', ' ') from jsonb_array_elements(p_chunks) i));
    if v_row.language is not null then
      update millrace.generation g set language = v_row.language where g.generation_id = p_generation_id and g.language is null;
    end if;
  end if;
  v_config := millrace.text_config(v_row.language);
  with item as materialized (
    select (i ->> 'chunk_id')::uuid as chunk_id, (i ->> 'content_id')::uuid as content_id, (i ->> 'chunk_ord')::integer as chunk_ord, i ->> 'chunk_sha' as chunk_sha,
           decode(i ->> 'embed_sha256', 'hex') as embed_sha256, i ->> 'text' as text, i -> 'meta' as meta
      from jsonb_array_elements(p_chunks) i),
  gone as (
    delete from millrace.document_chunk_buffer b using item i
     where b.generation_id = p_generation_id and b.chunk_ord = i.chunk_ord
       and (b.chunk_id, b.chunk_sha, b.embed_sha256, b.content_id, b.meta) is distinct from (i.chunk_id, i.chunk_sha, i.embed_sha256, i.content_id, i.meta)
    returning b.chunk_id)
  select count(*), (select count(*) from gone x join millrace.document_vector_buffer v on v.generation_id = p_generation_id and v.chunk_id = x.chunk_id
                     where v.embed_model = v_row.embed_model and v.embed_version = v_row.embed_version) into v_count, v_vectors from gone;
  if v_row.chunks_placed > 0 then
    delete from millrace.document_chunks c using jsonb_array_elements(p_chunks) i
     where c.generation_id = p_generation_id and c.chunk_ord = (i ->> 'chunk_ord')::integer
       and (c.chunk_id, c.chunk_sha, c.embed_sha256, c.content_id, c.meta)
           is distinct from ((i ->> 'chunk_id')::uuid, i ->> 'chunk_sha', decode(i ->> 'embed_sha256', 'hex'), (i ->> 'content_id')::uuid, i -> 'meta');
    get diagnostics v_displaced = row_count;
  end if;
  insert into millrace.document_chunk_buffer (generation_id, chunk_id, content_id, tenant_id, document_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, meta,
      embed_sha256, config, words, created_at)
  select p_generation_id, (i ->> 'chunk_id')::uuid, (i ->> 'content_id')::uuid, v_row.tenant_id, v_row.file_id, (i ->> 'chunk_ord')::integer, v_row.chunker_name, v_row.chunker_version,
         i ->> 'chunk_sha', i ->> 'text', i -> 'meta', decode(i ->> 'embed_sha256', 'hex'), v_config,
         millrace.chunk_words(v_config, array(select jsonb_array_elements_text(i #> '{meta,headings}')), i ->> 'text'), v_now
    from jsonb_array_elements(p_chunks) i
   where not exists (select from millrace.document_chunks c where c.generation_id = p_generation_id and c.chunk_ord = (i ->> 'chunk_ord')::integer)
  on conflict (generation_id, chunk_id) do nothing;
  get diagnostics v_new = row_count;
  if v_new > 0 or v_count > 0 or v_displaced > 0 then
    update millrace.generation g
       set chunks_done = g.chunks_done + v_new - v_count - v_displaced, vectors_done = g.vectors_done - v_vectors - v_displaced, chunks_placed = g.chunks_placed - v_displaced
     where g.generation_id = p_generation_id;
  end if;
  return v_count + v_displaced;
end;
$$;
