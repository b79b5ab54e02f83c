-- millrace.advance_upload: a piece of p_size bytes that begins at p_offset was stored as p_handle; answers the new offset. Fence: the writer of
-- millrace.take_upload. A repeat after a lost answer (same handle at the same place) answers the same. Anything else: MR029, with the offset
-- where the upload stands as detail. Room is reserved as an upload of unknown size grows. Every piece renews the time that is left. More pieces than
-- millrace.upload_parts_max says: MR038. A piece that a sweep may have removed: MR037 (millrace.check_removal).
create or replace function millrace.advance_upload(p_upload_id uuid, p_writer uuid, p_offset bigint, p_size bigint, p_handle text) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_upload millrace.upload := millrace.find_upload(p_upload_id, null, true);
  v_end bigint := p_offset + p_size;
  v_now timestamptz := millrace.now();
begin
  if v_end is null or p_size < 1 or p_handle is null then
    raise exception 'p_offset, p_size and p_handle are required, and a piece has a byte at least' using errcode = 'MR024';
  end if;
  if exists (select from millrace.upload_part p where p.upload_id = p_upload_id and p.offset_bytes = p_offset and p.size_bytes = p_size and p.handle = p_handle) then
    return v_upload.offset_bytes;
  end if;
  perform millrace.check_open(v_upload);
  if v_upload.writer is distinct from p_writer then
    raise exception 'somebody else appends to upload %', p_upload_id using errcode = 'MR029', detail = 'busy';
  end if;
  if v_upload.offset_bytes <> p_offset then
    raise exception 'upload % stands at %, not at %', p_upload_id, v_upload.offset_bytes, p_offset using errcode = 'MR029', detail = v_upload.offset_bytes::text;
  end if;
  if v_end > coalesce(v_upload.size_bytes, millrace.upload_size_max(v_upload.bucket)) then
    raise exception 'upload % was announced with % bytes', p_upload_id, coalesce(v_upload.size_bytes, millrace.upload_size_max(v_upload.bucket))
      using errcode = 'MR038';
  end if;
  if v_upload.parts >= millrace.upload_parts_max(p_offset) then
    raise exception 'upload % has % pieces: more must come in one', p_upload_id, v_upload.parts using errcode = 'MR038';
  end if;
  if v_end > v_upload.reserved_bytes then
    perform millrace.reserve_quota(v_upload.tenant_id, v_end, 1, p_upload_id);
  end if;
  perform millrace.check_removal(p_handle, null);
  insert into millrace.upload_part (upload_id, offset_bytes, tenant_id, size_bytes, handle, created_at)
  values (p_upload_id, p_offset, v_upload.tenant_id, p_size, p_handle, v_now);
  update millrace.upload u set offset_bytes = v_end, parts = u.parts + 1, reserved_bytes = greatest(u.reserved_bytes, v_end), expires_at = v_now + u.ttl,
         writer_until = greatest(u.writer_until, v_now + interval '60 seconds')
   where u.upload_id = p_upload_id;
  return v_end;
end;
$$;
