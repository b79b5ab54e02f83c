-- millrace.tenant_chunks: how many chunks a tenant has published (one owner, where given; of p_documents, where given). A number to compare others with, so what is being switched meanwhile does not matter.
create or replace function millrace.tenant_chunks(p_tenant_id uuid, p_owner_id uuid, p_documents uuid[] default null) returns bigint
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(sum(g.chunks_total), 0) from millrace.generation g
   where g.tenant_id = p_tenant_id and g.state = 'published' and (p_documents is null or g.file_id in (select unnest(p_documents)))
     and (p_owner_id is null or exists (select from millrace.shell_files f where f.id = g.file_id and f.owner_id = p_owner_id));
$$;
