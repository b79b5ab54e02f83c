-- millrace.put_results: results of stages, each in place of the one before. Contents are taken once each, in the order of their digests, so that two settlements never wait for each other in a circle; results of
-- many pages may be parts of one. The answers that they were made of are needed no longer (millrace.keep_answer), but for what a result says was to be reviewed. A page's result that is what it was keeps its job and its time: pictures that were drawn of it still stand. p_items: each page, stage, reuse_key (hexadecimal), blob (as in millrace.check_stored), part (where it is only a part of that: offset, size_bytes, sha256), meta; a page and stage once.
create or replace function millrace.put_results(p_document millrace.document, p_items jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform millrace.take_blob(p_document.tenant_id, b.blob)
     from (select distinct on ((i #>> '{blob,sha256}') collate "C") i -> 'blob' as blob from jsonb_array_elements(p_items) i order by (i #>> '{blob,sha256}') collate "C") b;
  insert into millrace.page_result as r (file_id, page, stage, tenant_id, reuse_key, sha256, size_bytes, part_offset, part_sha256, meta, job_id, run, reused, created_at)
  select p_document.file_id, (i ->> 'page')::integer, i ->> 'stage', p_document.tenant_id, decode(i ->> 'reuse_key', 'hex'), decode(i #>> '{blob,sha256}', 'hex'),
         coalesce(i #>> '{part,size_bytes}', i #>> '{blob,size_bytes}')::bigint, (i #>> '{part,offset}')::bigint, decode(i #>> '{part,sha256}', 'hex'), coalesce(i -> 'meta', '{}'), p_job_id,
         p_document.run, false, millrace.now()
    from jsonb_array_elements(p_items) i
  on conflict (file_id, page, stage) do update
     set reuse_key = excluded.reuse_key, sha256 = excluded.sha256, size_bytes = excluded.size_bytes, part_offset = excluded.part_offset, part_sha256 = excluded.part_sha256, meta = excluded.meta,
         (job_id, run, reused, created_at) = (
           select k.job_id, k.run, k.reused, k.created_at
             from (values (true, r.job_id, r.run, r.reused, r.created_at), (false, excluded.job_id, excluded.run, false, excluded.created_at)) k(same, job_id, run, reused, created_at)
            where k.same = (r.page > 0 and r.reuse_key = excluded.reuse_key and coalesce(r.part_sha256, r.sha256) = coalesce(excluded.part_sha256, excluded.sha256)));
  delete from millrace.paid_answer a using jsonb_array_elements(p_items) i
   where a.file_id = p_document.file_id and a.page = (i ->> 'page')::integer and a.stage = i ->> 'stage' and (a.refused is null or not coalesce(i -> 'meta', '{}') ? 'review');
end;
$$;
