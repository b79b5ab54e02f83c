-- millrace.put_outputs: files that a document is handed out as, each in place of the one of its kind and page. Content is taken in the order of its digests, as everywhere.
create or replace function millrace.put_outputs(p_document millrace.document, p_outputs jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_item jsonb;
begin
  for v_item in select i from jsonb_array_elements(coalesce(p_outputs, '[]')) i order by (i #>> '{blob,sha256}') collate "C" loop
    insert into millrace.document_output as o (file_id, kind, page, tenant_id, file_name, content_type, sha256, size_bytes, job_id, created_at)
    values (p_document.file_id, v_item ->> 'kind', coalesce((v_item ->> 'page')::integer, 0), p_document.tenant_id, left(v_item ->> 'file_name', 1024),
            left(v_item #>> '{blob,content_type}', 200), millrace.take_blob(p_document.tenant_id, v_item -> 'blob'), (v_item #>> '{blob,size_bytes}')::bigint, p_job_id, millrace.now())
    on conflict (file_id, kind, page) do update
       set file_name = excluded.file_name, content_type = excluded.content_type, sha256 = excluded.sha256, size_bytes = excluded.size_bytes, job_id = excluded.job_id,
           created_at = excluded.created_at;
  end loop;
end;
$$;
