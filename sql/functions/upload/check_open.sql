-- millrace.check_open: MR028 for an upload that has ended or expired: its room may be somebody else's by now.
create or replace function millrace.check_open(p_upload millrace.upload) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_upload.state <> 'open' or p_upload.expires_at <= millrace.now() then
    raise exception 'upload % was given up or has ended', p_upload.upload_id using errcode = 'MR028', detail = p_upload.state;
  end if;
end;
$$;
