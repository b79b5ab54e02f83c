-- millrace.page_results: what stages made of the pages of a document, in the order of pages, behind p_after, with where the content is. For workers.
create or replace function millrace.page_results(p_file_id uuid, p_stages text[], p_after integer default 0, p_limit integer default 500)
  returns table (page integer, stage text, sha256 text, size_bytes bigint, store_key text, part_offset bigint, meta jsonb, reuse_key text, reused boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select r.page, r.stage, encode(coalesce(r.part_sha256, r.sha256), 'hex'), r.size_bytes, b.store_key, r.part_offset, r.meta, encode(r.reuse_key, 'hex'), r.reused
    from (select p.page, p.file_id from millrace.page p
           where p.file_id = p_file_id and p.page > p_after order by p.page limit least(greatest(p_limit, 1), 5000)) p
    join millrace.page_result r on r.file_id = p.file_id and r.page = p.page and r.stage = any (p_stages)
    join millrace.blob_object b on b.tenant_id = r.tenant_id and b.sha256 = r.sha256
   order by r.page, array_position(p_stages, r.stage);
end;
$$;
