-- millrace.take_upload: makes p_writer the one who may append, for p_for; answers the upload. While another appends: MR029. A writer that was
-- replaced finds its pieces refused, however late they come.
create or replace function millrace.take_upload(p_upload_id uuid, p_user uuid, p_writer uuid, p_for interval default interval '60 seconds') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_upload millrace.upload := millrace.find_upload(p_upload_id, p_user, true);
begin
  perform millrace.check_open(v_upload);
  if p_writer is null or coalesce(p_for not between interval '1 second' and interval '1 hour', true) then
    raise exception 'p_writer is required, and p_for between 1 second and 1 hour' using errcode = 'MR024';
  end if;
  if v_upload.writer <> p_writer and v_upload.writer_until > millrace.now() then
    raise exception 'somebody else appends to upload %', p_upload_id using errcode = 'MR029', detail = 'busy';
  end if;
  update millrace.upload u set writer = p_writer, writer_until = millrace.now() + p_for where u.upload_id = p_upload_id returning u.* into v_upload;
  return millrace.upload_json(v_upload);
end;
$$;
