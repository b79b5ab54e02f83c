-- millrace.upload_json: an upload as the server needs it. An open one that has expired says so. Its pieces are told by millrace.list_parts: there may be
-- many, and most calls need none.
create or replace function millrace.upload_json(p_upload millrace.upload) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('upload_id', p_upload.upload_id, 'tenant_id', p_upload.tenant_id, 'user_id', p_upload.user_id, 'kind', p_upload.kind,
    'state', case when p_upload.state = 'open' and p_upload.expires_at <= millrace.now() then 'expired' else p_upload.state end,
    'bucket', p_upload.bucket, 'object_name', p_upload.object_name, 'file_name', p_upload.file_name, 'content_type', p_upload.declared_type,
    'metadata', p_upload.metadata, 'size_bytes', p_upload.size_bytes, 'offset_bytes', p_upload.offset_bytes, 'reserved_bytes', p_upload.reserved_bytes,
    'expires_at', p_upload.expires_at, 'expires_us', (extract(epoch from p_upload.expires_at) * 1000000)::bigint, 'answer', p_upload.answer,
    'size_max_bytes', millrace.upload_size_max(p_upload.bucket),
    'parts_left', greatest(millrace.upload_parts_max(p_upload.offset_bytes) - p_upload.parts, 0));
end;
$$;
