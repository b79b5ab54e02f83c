-- millrace.find_upload: an upload of the tenant of this call and, where p_user is given, of that user; locked where p_lock. MR028 for any other.
create or replace function millrace.find_upload(p_upload_id uuid, p_user uuid, p_lock boolean) returns millrace.upload
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_upload millrace.upload;
begin
  if p_lock then
    select u.* into v_upload from millrace.upload u where u.upload_id = p_upload_id for update;
  else
    select u.* into v_upload from millrace.upload u where u.upload_id = p_upload_id;
  end if;
  if v_upload.upload_id is null or (v_scope is not null and v_upload.tenant_id <> v_scope) or (p_user is not null and v_upload.user_id is distinct from p_user) then
    raise exception 'upload % does not exist', p_upload_id using errcode = 'MR028';
  end if;
  return v_upload;
end;
$$;
