-- millrace.list_chunks: published chunks of a document in order, behind p_after, without their vectors. For workers.
create or replace function millrace.list_chunks(p_file_id uuid, p_after integer default -1, p_limit integer default 500) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select jsonb_build_object('chunk_id', c.chunk_id, 'content_id', c.content_id, 'ord', c.chunk_ord, 'text', c.text, 'heading_path', c.heading_path, 'page_start', c.page_start,
           'page_end', c.page_end, 'start_byte', c.start_byte, 'end_byte', c.end_byte, 'sha256', c.chunk_sha, 'tokens', c.meta -> 'tokens', 'tokenizer', c.meta -> 'tokenizer',
           'blocks', c.meta -> 'blocks', 'embed_model', c.embed_model, 'embed_version', c.embed_version)
    from millrace.generation g join millrace.document_chunks c on c.generation_id = g.generation_id
   where g.file_id = p_file_id and g.state = 'published' and c.chunk_ord > coalesce(p_after, -1)
   order by c.chunk_ord limit least(greatest(coalesce(p_limit, 500), 1), 1000);
end;
$$;
