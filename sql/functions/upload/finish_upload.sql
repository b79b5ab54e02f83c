-- millrace.finish_upload: the content is stored (p_blob: see millrace.check_stored): content, storage object and, of a file, its row and first job
-- come into being in this one transaction, or nothing does.
-- Idempotent: by the upload, and by its idempotency key: same content, same answer (`replayed`, where another upload had made it); other content: MR011.
-- One that nobody has given up ends though its time was over, where its room can be had again.
create or replace function millrace.finish_upload(p_upload_id uuid, p_blob jsonb, p_user uuid default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_upload millrace.upload := millrace.find_upload(p_upload_id, p_user, true);
  v_sha256 bytea;
  v_size bigint;
  v_answer jsonb;
  v_late boolean := v_upload.state = 'open' and v_upload.expires_at <= millrace.now();
begin
  -- A repeat finds its own success, however late it comes.
  if v_upload.state = 'done' then
    if p_blob ->> 'sha256' is distinct from encode(v_upload.sha256, 'hex') then
      raise exception 'upload % has ended with other content', p_upload_id using errcode = 'MR011';
    end if;
    return v_upload.answer;
  end if;
  if not v_late then
    perform millrace.check_open(v_upload);
  end if;
  perform millrace.check_stored(p_blob);
  v_sha256 := decode(p_blob ->> 'sha256', 'hex');
  v_size := (p_blob ->> 'size_bytes')::bigint;
  if v_size <> v_upload.size_bytes then
    raise exception 'upload % was announced with % bytes and has %', p_upload_id, v_upload.size_bytes, v_size using errcode = 'MR038';
  end if;
  -- Before the tenant's row, as when it was announced; and held, so that nobody deletes the profile under the file.
  perform from millrace.user_profiles p where p.id = v_upload.patient_id for key share;
  if v_upload.kind = 'file' and not found then
    raise exception 'profile % does not exist', v_upload.patient_id using errcode = 'MR036';
  end if;
  -- By what was found in it: what its client called it was looked at when it was announced.
  perform millrace.check_bucket(v_upload.bucket, v_size, p_blob ->> 'content_type');
  if v_size > v_upload.reserved_bytes or v_late then
    if v_size > coalesce(v_upload.size_bytes, millrace.upload_size_max(v_upload.bucket)) then
      raise exception 'an upload may have % bytes at most', millrace.upload_size_max(v_upload.bucket) using errcode = 'MR038';
    end if;
    perform millrace.reserve_quota(v_upload.tenant_id, v_size, 1, p_upload_id);
  end if;
  if v_upload.kind = 'file' then
    v_answer := millrace.finish_file(v_upload, p_blob);
  else
    perform millrace.take_blob(v_upload.tenant_id, p_blob);
    v_answer := millrace.object_json(millrace.put_object(v_upload.tenant_id, v_upload, v_upload.object_name, v_sha256, v_size,
      coalesce(nullif(v_upload.declared_type, ''), p_blob ->> 'content_type', 'application/octet-stream')));
  end if;
  update millrace.upload u
     set state = 'done', size_bytes = v_size, sha256 = v_sha256, answer = v_answer, reserved_bytes = 0, writer = null, writer_until = null,
         expires_at = millrace.now() + interval '1 day'
   where u.upload_id = p_upload_id;
  return v_answer;
end;
$$;
