-- millrace.chunk_id: the id of a chunk by its place (B-09). It names no text: for that document_chunks has content_id.
create or replace function millrace.chunk_id(p_document_id uuid, p_chunker_name text, p_chunker_version text, p_chunk_ord integer) returns uuid
  language sql immutable strict parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
  select millrace.name_id(p_document_id || ':' || p_chunker_name || ':' || p_chunker_version || ':' || p_chunk_ord)
$$;
