-- millrace.put_result: one result of a stage, in place of the one before. p_item: page, stage, reuse_key (hexadecimal), blob (as in millrace.check_stored), part (where it is only a part of that: offset, size_bytes, sha256), meta.
create or replace function millrace.put_result(p_document millrace.document, p_item jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_sha256 bytea := millrace.take_blob(p_document.tenant_id, p_item -> 'blob');
begin
  insert into millrace.page_result as r (file_id, page, stage, tenant_id, reuse_key, sha256, size_bytes, part_offset, part_sha256, meta, job_id, run, reused, created_at)
  values (p_document.file_id, (p_item ->> 'page')::integer, p_item ->> 'stage', p_document.tenant_id, decode(p_item ->> 'reuse_key', 'hex'), v_sha256,
          coalesce(p_item #>> '{part,size_bytes}', p_item #>> '{blob,size_bytes}')::bigint, (p_item #>> '{part,offset}')::bigint, decode(p_item #>> '{part,sha256}', 'hex'), coalesce(p_item -> 'meta', '{}'), p_job_id, p_document.run, false, millrace.now())
  on conflict (file_id, page, stage) do update
     set reuse_key = excluded.reuse_key, sha256 = excluded.sha256, size_bytes = excluded.size_bytes, part_offset = excluded.part_offset, part_sha256 = excluded.part_sha256, meta = excluded.meta, job_id = excluded.job_id,
         run = excluded.run, reused = false, created_at = excluded.created_at;
end;
$$;
