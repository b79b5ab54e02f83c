-- millrace.embedding_text: what is embedded of a chunk: headings above it, overlap, the slice itself, a fence that is closed again.
create or replace function millrace.embedding_text(p_meta jsonb, p_text text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_meta ->> 'prefix', '') || coalesce(p_meta ->> 'overlap', '') || p_text || coalesce(p_meta ->> 'suffix', '')
$$;
