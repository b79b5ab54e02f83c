-- millrace.grow_upload: reserves room up to p_bytes for an upload whose size is not known (null: what it has stays), says its size once it is
-- known (p_size), and renews the time that is left. One that nobody has given up goes on though its time was over, where its room can be had again: the
-- database was away, and not the client.
create or replace function millrace.grow_upload(p_upload_id uuid, p_user uuid, p_bytes bigint, p_size bigint default null) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_upload millrace.upload := millrace.find_upload(p_upload_id, p_user, true);
  v_max bigint := millrace.upload_size_max(v_upload.bucket);
  v_bytes bigint := greatest(coalesce(p_bytes, 0), coalesce(p_size, 0), v_upload.reserved_bytes);
  v_late boolean := v_upload.state = 'open' and v_upload.expires_at <= millrace.now();
begin
  if not v_late then
    perform millrace.check_open(v_upload);
  end if;
  if (v_bytes > v_upload.reserved_bytes and v_bytes > coalesce(v_upload.size_bytes, v_max)) or p_size < v_upload.offset_bytes or (p_size <> v_upload.size_bytes) then
    raise exception 'upload % may have % bytes at most, and a size that was said stays', p_upload_id, coalesce(v_upload.size_bytes, v_max) using errcode = 'MR038';
  end if;
  if v_bytes > v_upload.reserved_bytes or v_late then
    perform millrace.reserve_quota(v_upload.tenant_id, v_bytes, 1, p_upload_id);
  end if;
  update millrace.upload u set reserved_bytes = v_bytes, size_bytes = coalesce(u.size_bytes, p_size), expires_at = millrace.now() + u.ttl
   where u.upload_id = p_upload_id;
end;
$$;
