-- millrace.parse_id: the id of a parse by its document and parser (B-10).
create or replace function millrace.parse_id(p_document_id uuid, p_parser_name text, p_parser_version text) returns uuid
  language sql immutable strict parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
  select millrace.name_id(p_document_id || ':' || p_parser_name || ':' || p_parser_version)
$$;
