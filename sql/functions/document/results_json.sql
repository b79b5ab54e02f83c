-- millrace.results_json: what the stages made of one page of a document (0: of all of it), by stage, with where the content is. For workers.
create or replace function millrace.results_json(p_file_id uuid, p_page integer) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(r.stage, jsonb_build_object('sha256', encode(coalesce(r.part_sha256, r.sha256), 'hex'), 'size_bytes', r.size_bytes, 'store_key', b.store_key,
                    'offset', r.part_offset, 'reuse_key', encode(r.reuse_key, 'hex'), 'meta', r.meta)), '{}')
    from millrace.page_result r join millrace.blob_object b on b.tenant_id = r.tenant_id and b.sha256 = r.sha256
   where r.file_id = p_file_id and r.page = p_page
$$;
