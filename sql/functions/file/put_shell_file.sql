-- millrace.put_shell_file: one row of millrace.put_shell_files; null where it was ignored.
create or replace function millrace.put_shell_file(p_row jsonb, p_conflict text, p_user uuid, p_scope uuid) returns millrace.shell_files
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_bad text := case jsonb_typeof(p_row) when 'object' then (select k from jsonb_object_keys(p_row) k
    where k not in ('storage_path', 'patient_id', 'idempotency_key', 'file_name', 'status') limit 1) end;
  v_profile millrace.user_profiles;
  v_object millrace.storage_object;
  v_file millrace.shell_files;
begin
  if jsonb_typeof(p_row) is distinct from 'object' then
    raise exception 'a file must be a JSON object' using errcode = 'MR024';
  end if;
  if v_bad is not null then
    raise exception 'column % of shell_files cannot be given', quote_ident(v_bad) using errcode = '42703';
  end if;
  if coalesce(p_row ->> 'status', 'uploaded') <> 'uploaded' then
    raise exception 'status of a new file must be uploaded' using errcode = 'MR024';
  end if;
  select p.* into v_profile from millrace.user_profiles p
   where p.id = millrace.uuid_or_null(p_row ->> 'patient_id') and (p_scope is null or p.tenant_id = p_scope) and (p_user is null or p.account_owner_id = p_user)
     for key share;
  if not found then
    raise exception 'patient_id must be a profile of the caller' using errcode = '42501';
  end if;
  -- Held: the sweep of documents that never became a file passes over it.
  select o.* into v_object from millrace.storage_object o
   where o.tenant_id = v_profile.tenant_id and o.bucket = 'medical-docs' and o.name = p_row ->> 'storage_path' and o.owner_id = v_profile.account_owner_id
     for update;
  if not found then
    raise exception 'storage_path must be an object of the caller in bucket medical-docs' using errcode = '42501';
  end if;
  loop
    insert into millrace.shell_files as f (id, tenant_id, owner_id, patient_id, bucket, storage_path, file_name, content_type, size_bytes, sha256,
        idempotency_key, created_at, updated_at)
    select millrace.new_id(), v_object.tenant_id, v_object.owner_id, v_profile.id, v_object.bucket, v_object.name,
           coalesce(nullif(p_row ->> 'file_name', ''), regexp_replace(v_object.name, '^.*/(\d+_)?', '')), b.content_type, v_object.size_bytes, v_object.sha256,
           p_row ->> 'idempotency_key', v_now, v_now
      from millrace.blob_object b where b.tenant_id = v_object.tenant_id and b.sha256 = v_object.sha256
    on conflict (tenant_id, owner_id, idempotency_key) do nothing
    returning f.* into v_file;
    exit when found;
    select f.* into v_file from millrace.shell_files f
     where f.tenant_id = v_object.tenant_id and f.owner_id = v_object.owner_id and f.idempotency_key = p_row ->> 'idempotency_key';
    continue when not found;
    if p_conflict = 'ignore' then
      return null;
    end if;
    if p_conflict = 'merge' and v_file.patient_id <> v_profile.id then
      raise exception 'duplicate key value violates unique constraint "shell_files_idempotency_key"'
        using errcode = '23505', constraint = 'shell_files_idempotency_key', detail = 'Key (idempotency_key) already exists, for another patient.';
    end if;
    -- A repeat stored its bytes again under another name: the file is the first one's, and the second object is swept.
    if p_conflict = 'merge' and v_file.sha256 = v_object.sha256 then
      return v_file;
    end if;
    raise exception 'duplicate key value violates unique constraint "shell_files_idempotency_key"'
      using errcode = '23505', constraint = 'shell_files_idempotency_key', detail = 'Key (idempotency_key) already exists, with other content or without leave to merge.';
  end loop;
  update millrace.storage_object o set claimed = true where o.object_id = v_object.object_id;
  return millrace.start_file(v_file, null, null, 'file_created');
end;
$$;
