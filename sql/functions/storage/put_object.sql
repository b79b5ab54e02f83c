-- millrace.put_object: makes or replaces a storage object that refers to content taken in this transaction. Where an export lies no user puts anything (X-06), nor where its file was.
create or replace function millrace.put_object(p_tenant uuid, p_upload millrace.upload, p_name text, p_sha256 bytea, p_size bigint, p_content_type text)
  returns millrace.storage_object language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_object millrace.storage_object;
begin
  insert into millrace.storage_object as o (object_id, tenant_id, bucket, name, owner_id, sha256, size_bytes, content_type, cache_control, user_metadata, claimed,
      created_at, updated_at)
  values (millrace.new_id(), p_tenant, p_upload.bucket, p_name, p_upload.user_id, p_sha256, p_size, p_content_type,
          coalesce(p_upload.cache_control, '3600'), p_upload.metadata, p_upload.kind = 'file', v_now, v_now)
  on conflict (tenant_id, bucket, name) do update
    set sha256 = excluded.sha256, size_bytes = excluded.size_bytes, content_type = excluded.content_type, cache_control = excluded.cache_control,
        user_metadata = excluded.user_metadata, updated_at = v_now
    -- The document of a file does not change under it, and a user replaces the own ones only.
    where p_upload.replace and not o.claimed and (p_upload.user_id is null or o.owner_id = p_upload.user_id)
  returning o.* into v_object;
  -- In a statement of its own: an upload that waited for the export to be stored began too early to see it.
  if not found or millrace.export_lies_there(p_tenant, p_upload.bucket, p_name, p_upload.user_id) then
    raise exception 'object % exists in bucket %', quote_literal(p_name), quote_literal(p_upload.bucket) using errcode = 'MR030';
  end if;
  perform millrace.audit_for(p_tenant, 'storage_object', v_object.object_id::text, 'object_stored', null,
    jsonb_build_object('bucket', v_object.bucket, 'sha256', encode(p_sha256, 'hex'), 'size_bytes', p_size), 'Object stored');
  return v_object;
end;
$$;
