-- millrace.begin_upload: announces an upload and reserves room for it. Fields: kind (file, object), user_id (who may see it; null: a service),
-- size_bytes (null: not known), reserve_bytes (where it is not), file_name, content_type, cache_control, metadata, ttl_seconds, correlation_id,
-- traceparent; of a file: patient_id, idempotency_key, pipeline (guardian, ingest, or one that workers have registered), resumable; of an object: bucket, object_name, replace.
-- Answers the upload; or, where the key has its file already, no upload_id but `existing`: the caller compares the content, and answers that. Content that
-- comes in pieces (resumable) can be compared at its end only: such an upload is opened all the same, and millrace.finish_file judges.
-- The reservation ends with the upload, or when it expires, whoever dies.
create or replace function millrace.begin_upload(p_upload jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_new millrace.upload;
  v_bad text := (select k from jsonb_object_keys(p_upload) k where k not in ('kind', 'user_id', 'size_bytes', 'reserve_bytes', 'file_name', 'content_type',
    'cache_control', 'metadata', 'ttl_seconds', 'correlation_id', 'traceparent', 'patient_id', 'idempotency_key', 'pipeline', 'resumable', 'bucket', 'object_name',
    'replace') limit 1);
  v_user uuid := millrace.uuid_or_null(p_upload ->> 'user_id');
  v_max bigint;
  v_now timestamptz := millrace.now();
  v_owner record;
  v_existing millrace.shell_files;
begin
  if coalesce(p_upload ->> 'kind', '') not in ('file', 'object') or v_bad is not null then
    raise exception '%', case when v_bad is null then 'kind must be file or object' else 'unknown field ' || v_bad end using errcode = 'MR024';
  end if;
  if millrace.config_boolean('system.maintenance_mode', false) then
    raise exception 'uploads are not taken in at this time' using errcode = 'MR032', hint = 'system_configuration key system.maintenance_mode';
  end if;
  if coalesce(p_upload ->> 'size_bytes', '0') !~ '^[0-9]{1,15}$' or coalesce(p_upload ->> 'reserve_bytes', '0') !~ '^[0-9]{1,15}$' then
    raise exception 'size_bytes must be a whole number of at least 0' using errcode = 'MR024';
  end if;
  if octet_length(p_upload ->> 'idempotency_key') not between 1 and 1024 or octet_length(p_upload ->> 'file_name') > 1024 then
    raise exception 'idempotency_key and file_name must have 1 to 1024 bytes' using errcode = 'MR024';
  end if;
  if octet_length((p_upload -> 'metadata')::text) > 16384 then
    raise exception 'metadata must have 16384 bytes at most' using errcode = 'MR024';
  end if;
  v_new.pipeline := coalesce(p_upload ->> 'pipeline', 'guardian');
  perform millrace.check_pipeline(v_new.pipeline);
  v_new.bucket := case p_upload ->> 'kind' when 'file' then 'medical-docs' else p_upload ->> 'bucket' end;
  v_max := millrace.upload_size_max(v_new.bucket);
  v_new.size_bytes := (p_upload ->> 'size_bytes')::bigint;
  -- A form is longer than its file: that alone does not make the file too large.
  v_new.reserved_bytes := coalesce(v_new.size_bytes, least((p_upload ->> 'reserve_bytes')::bigint, v_max), 0);
  if v_new.size_bytes > v_max then
    raise exception 'an upload may have % bytes at most', v_max using errcode = 'MR038';
  end if;
  v_new.upload_id := millrace.new_id();
  v_new.tenant_id := case when millrace.tenant_scope() is null and v_user is not null then millrace.tenant_of_user(v_user) else millrace.current_tenant() end;
  v_new.kind := p_upload ->> 'kind';
  v_new.user_id := v_user;
  v_new.file_name := coalesce(nullif(p_upload ->> 'file_name', ''), 'file');
  v_new.idempotency_key := p_upload ->> 'idempotency_key';
  v_new.ttl := make_interval(secs => least(greatest(coalesce((p_upload ->> 'ttl_seconds')::integer, millrace.config_integer('upload.ttl_seconds', 86400)), 1), 604800));
  if v_new.kind = 'file' then
    select o.owner_id, o.patient_id into v_owner from millrace.upload_owner(v_new.tenant_id, v_user, millrace.uuid_or_null(p_upload ->> 'patient_id')) o;
    v_new.user_id := v_owner.owner_id;
    v_new.patient_id := v_owner.patient_id;
    select f.* into v_existing from millrace.shell_files f
     where f.tenant_id = v_new.tenant_id and f.owner_id = v_new.user_id and f.idempotency_key = v_new.idempotency_key;
    if found then
      perform millrace.check_replay(v_existing, v_new);
      if not coalesce((p_upload ->> 'resumable')::boolean, false) then
        return jsonb_build_object('state', 'exists', 'existing', millrace.file_json(v_existing));
      end if;
      if v_new.size_bytes <> v_existing.size_bytes then
        raise exception 'idempotency_key was used before with other content' using errcode = 'MR011';
      end if;
    end if;
  else
    v_new.object_name := p_upload ->> 'object_name';
    v_new.replace := coalesce((p_upload ->> 'replace')::boolean, false);
    perform millrace.check_object_name(v_new.bucket, v_new.object_name, v_user);
    perform millrace.check_bucket(v_new.bucket, v_new.size_bytes, p_upload ->> 'content_type');
    if exists (select from millrace.storage_object o where o.tenant_id = v_new.tenant_id and o.bucket = v_new.bucket and o.name = v_new.object_name
                  and (o.claimed or not v_new.replace or o.owner_id is distinct from coalesce(v_user, o.owner_id)))
       or millrace.export_lies_there(v_new.tenant_id, v_new.bucket, v_new.object_name, v_user) then
      raise exception 'object % exists in bucket %', quote_literal(v_new.object_name), quote_literal(v_new.bucket) using errcode = 'MR030';
    end if;
  end if;
  perform millrace.reserve_quota(v_new.tenant_id, v_new.reserved_bytes, 1, null);
  insert into millrace.upload (upload_id, tenant_id, user_id, kind, bucket, object_name, replace, patient_id, file_name, declared_type, cache_control, metadata,
      idempotency_key, pipeline, correlation_id, traceparent, size_bytes, reserved_bytes, ttl, created_at, expires_at)
  values (v_new.upload_id, v_new.tenant_id, v_new.user_id, v_new.kind, v_new.bucket, v_new.object_name, coalesce(v_new.replace, false), v_new.patient_id,
          v_new.file_name, left(p_upload ->> 'content_type', 200), left(p_upload ->> 'cache_control', 200), nullif(p_upload -> 'metadata', 'null'),
          v_new.idempotency_key, v_new.pipeline, left(p_upload ->> 'correlation_id', 1024), left(p_upload ->> 'traceparent', 1024), v_new.size_bytes, v_new.reserved_bytes,
          v_new.ttl, v_now, v_now + v_new.ttl)
  returning upload.* into v_new;
  return millrace.upload_json(v_new);
end;
$$;
