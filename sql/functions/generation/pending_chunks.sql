-- millrace.pending_chunks: chunks of a generation that have no vector of its model yet (B-17), in order, behind p_after, with the text that is embedded. For workers.
create or replace function millrace.pending_chunks(p_generation_id uuid, p_after integer default -1, p_limit integer default 256)
  returns table (chunk_id uuid, chunk_ord integer, embed_sha256 text, embedding_text text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select b.chunk_id, b.chunk_ord, encode(b.embed_sha256, 'hex'), millrace.embedding_text(b.meta, b.text)
    from millrace.generation g join millrace.document_chunk_buffer b on b.generation_id = g.generation_id
   where g.generation_id = p_generation_id and b.chunk_ord > coalesce(p_after, -1)
     and not exists (select from millrace.document_vector_buffer v where v.generation_id = b.generation_id and v.chunk_id = b.chunk_id
                        and v.embed_model = g.embed_model and v.embed_version = g.embed_version)
   order by b.chunk_ord limit least(greatest(coalesce(p_limit, 256), 1), 256);
end;
$$;
