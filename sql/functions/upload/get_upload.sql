-- millrace.get_upload: how far an upload came.
create or replace function millrace.get_upload(p_upload_id uuid, p_user uuid default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return millrace.upload_json(millrace.find_upload(p_upload_id, p_user, false));
end;
$$;
