-- millrace.hidden_generations: generations of a tenant that have rows in document_chunks and are not published: what is being put in place, and what was replaced and is not removed yet. Few, or
-- none. Whoever reads document_chunks passes over them, in the snapshot in which it reads: so it sees one generation of a document, whole.
create or replace function millrace.hidden_generations(p_tenant_id uuid) returns uuid[]
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(g.generation_id), '{}') from millrace.generation g where g.tenant_id = p_tenant_id and g.state <> 'published' and g.chunks_placed > 0
$$;
