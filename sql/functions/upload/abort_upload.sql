-- millrace.abort_upload: gives an upload up; its room is free at once, its pieces go with the next sweep. One that has ended stays as it is.
create or replace function millrace.abort_upload(p_upload_id uuid, p_user uuid default null) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_upload millrace.upload := millrace.find_upload(p_upload_id, p_user, true);
begin
  if v_upload.state = 'done' then
    return false;
  end if;
  update millrace.upload u set state = 'aborted' where u.upload_id = p_upload_id and u.state = 'open';
  return true;
end;
$$;
