-- millrace.get_output: where an output of a document of the caller is, for the server to open or sign; null where it was not made. store_key and sha256 are not for clients.
create or replace function millrace.get_output(p_file_id uuid, p_kind text, p_page integer default 0) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
begin
  return (select jsonb_build_object('kind', o.kind, 'page', o.page, 'file_name', o.file_name, 'content_type', o.content_type, 'size_bytes', o.size_bytes,
                   'sha256', encode(o.sha256, 'hex'), 'store_key', b.store_key, 'tenant_id', o.tenant_id)
            from millrace.document_output o join millrace.blob_object b on b.tenant_id = o.tenant_id and b.sha256 = o.sha256
           where o.file_id = v_file.id and o.kind = p_kind and o.page = coalesce(p_page, 0));
end;
$$;
