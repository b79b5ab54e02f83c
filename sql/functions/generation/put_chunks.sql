-- millrace.put_chunks: some chunks of a generation, in its buffer; fenced by the lease. Said again they change nothing; one that differs from what lies at its place replaces it, and its vector
-- goes (B-12). p_chunks: chunk_id, content_id, chunk_ord, chunk_sha, embed_sha256 (both hexadecimal), text, meta.
create or replace function millrace.put_chunks(p_job_id uuid, p_token uuid, p_generation_id uuid, p_chunks jsonb) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_row millrace.generation := millrace.hold_generation(p_job_id, p_token, p_generation_id);
  v_config regconfig;
  v_count integer;
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
    returning b.chunk_ord)
  select count(*) into v_count from gone;
  insert into millrace.document_chunk_buffer (generation_id, chunk_id, content_id, tenant_id, document_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, meta,
      embed_sha256, config, words, created_at)
  select p_generation_id, (i ->> 'chunk_id')::uuid, (i ->> 'content_id')::uuid, v_row.tenant_id, v_row.file_id, (i ->> 'chunk_ord')::integer, v_row.chunker_name, v_row.chunker_version,
         i ->> 'chunk_sha', i ->> 'text', i -> 'meta', decode(i ->> 'embed_sha256', 'hex'), v_config,
         millrace.chunk_words(v_config, array(select jsonb_array_elements_text(i #> '{meta,headings}')), i ->> 'text'), v_now
    from jsonb_array_elements(p_chunks) i
  on conflict (generation_id, chunk_id) do nothing;
  return v_count;
end;
$$;
