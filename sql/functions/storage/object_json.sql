-- millrace.object_json: a storage object as the API tells it.
create or replace function millrace.object_json(p_object millrace.storage_object) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('id', p_object.object_id, 'tenant_id', p_object.tenant_id, 'bucket', p_object.bucket, 'name', p_object.name,
    'owner_id', p_object.owner_id, 'sha256', encode(p_object.sha256, 'hex'), 'size_bytes', p_object.size_bytes, 'content_type', p_object.content_type,
    'cache_control', p_object.cache_control, 'user_metadata', p_object.user_metadata, 'created_at', p_object.created_at, 'updated_at', p_object.updated_at,
    'store_key', (select b.store_key from millrace.blob_object b where b.tenant_id = p_object.tenant_id and b.sha256 = p_object.sha256));
end;
$$;
