-- millrace.file_json: a file as the API tells it.
create or replace function millrace.file_json(p_file millrace.shell_files) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('id', p_file.id, 'tenant_id', p_file.tenant_id, 'owner_id', p_file.owner_id, 'patient_id', p_file.patient_id, 'bucket', p_file.bucket,
    'storage_path', p_file.storage_path, 'file_name', p_file.file_name, 'content_type', p_file.content_type, 'size_bytes', p_file.size_bytes,
    'sha256', encode(p_file.sha256, 'hex'), 'idempotency_key', p_file.idempotency_key, 'status', p_file.status, 'processing_error', p_file.processing_error,
    'job_id', p_file.job_id, 'created_at', p_file.created_at, 'updated_at', p_file.updated_at);
end;
$$;
