-- millrace.put_outputs: files that a document is handed out as, each in place of the one of its kind and page. One that is the file itself (`of_file`) has no content of its own, nor has one that is the result of a stage (`of_stage`). Content is taken in the order of its digests, as everywhere.
create or replace function millrace.put_outputs(p_document millrace.document, p_outputs jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_item jsonb;
  v_file millrace.shell_files;
  v_result millrace.page_result;
begin
  select f.* into v_file from millrace.shell_files f where f.id = p_document.file_id;
  for v_item in select i from jsonb_array_elements(coalesce(p_outputs, '[]')) i order by (i #>> '{blob,sha256}') collate "C" loop
    if v_item ? 'of_stage' then
      select r.* into strict v_result from millrace.page_result r where r.file_id = p_document.file_id and r.page = 0 and r.stage = v_item ->> 'of_stage';
    end if;
    insert into millrace.document_output as o (file_id, kind, page, tenant_id, file_name, content_type, sha256, size_bytes, job_id, created_at)
    values (p_document.file_id, v_item ->> 'kind', coalesce((v_item ->> 'page')::integer, 0), p_document.tenant_id, left(v_item ->> 'file_name', 1024),
            left(coalesce(v_item #>> '{blob,content_type}', v_item ->> 'content_type'), 200),
            case when v_item ? 'of_file' then v_file.sha256 when v_item ? 'of_stage' then v_result.sha256 else millrace.take_blob(p_document.tenant_id, v_item -> 'blob') end,
            case when v_item ? 'of_file' then v_file.size_bytes when v_item ? 'of_stage' then v_result.size_bytes else (v_item #>> '{blob,size_bytes}')::bigint end, p_job_id, millrace.now())
    on conflict (file_id, kind, page) do update
       set file_name = excluded.file_name, content_type = excluded.content_type, sha256 = excluded.sha256, size_bytes = excluded.size_bytes, job_id = excluded.job_id,
           created_at = excluded.created_at;
  end loop;
end;
$$;
