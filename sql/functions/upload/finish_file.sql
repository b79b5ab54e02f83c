-- millrace.finish_file: content, object, file row and first job of an upload. Where the key has its file already, that is the answer (`replayed`), and
-- nothing of this one stays but content that the sweep finds. The caller holds the profile.
create or replace function millrace.finish_file(p_upload millrace.upload, p_blob jsonb) returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_sha256 bytea := decode(p_blob ->> 'sha256', 'hex');
  v_charset text;
  v_file millrace.shell_files;
begin
  loop
    -- The key first: whoever loses has written nothing else.
    insert into millrace.shell_files as f (id, tenant_id, owner_id, patient_id, bucket, storage_path, file_name, content_type, size_bytes, sha256,
        idempotency_key, pipeline, created_at, updated_at)
    values (millrace.new_id(), p_upload.tenant_id, p_upload.user_id, p_upload.patient_id, p_upload.bucket,
            p_upload.user_id || '/' || p_upload.upload_id || '_' || millrace.safe_file_name(p_upload.file_name), p_upload.file_name,
            coalesce(p_blob ->> 'content_type', 'application/octet-stream'), (p_blob ->> 'size_bytes')::bigint, v_sha256, p_upload.idempotency_key,
            p_upload.pipeline, v_now, v_now)
    on conflict (tenant_id, owner_id, idempotency_key) do nothing
    returning f.* into v_file;
    exit when found;
    select f.* into v_file from millrace.shell_files f
     where f.tenant_id = p_upload.tenant_id and f.owner_id = p_upload.user_id and f.idempotency_key = p_upload.idempotency_key;
    if found then
      if v_file.sha256 <> v_sha256 then
        raise exception 'idempotency_key was used before with other content' using errcode = 'MR011';
      end if;
      perform millrace.check_replay(v_file, p_upload);
      return millrace.file_json(v_file) || '{"replayed": true}'::jsonb;
    end if;
  end loop;
  -- Of a text only: some senders declare one of everything.
  if p_upload.declared_type ~* '^(text/|message/|application/([a-z0-9.-]+\+)?(xml|xhtml|json))' then
    v_charset := lower((regexp_match(p_upload.declared_type, ';\s*charset\s*=\s*"?([a-z0-9][a-z0-9._:+-]{0,63})', 'i'))[1]);
  end if;
  if v_charset is not null then
    insert into millrace.file_charset (file_id, tenant_id, charset) values (v_file.id, v_file.tenant_id, v_charset);
  end if;
  perform millrace.take_blob(p_upload.tenant_id, p_blob);
  perform millrace.put_object(p_upload.tenant_id, p_upload, v_file.storage_path, v_sha256, v_file.size_bytes, v_file.content_type);
  v_file := millrace.start_file(v_file, p_upload.correlation_id, p_upload.traceparent, 'file_created');
  return millrace.file_json(v_file);
end;
$$;
