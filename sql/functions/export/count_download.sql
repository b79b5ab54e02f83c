-- millrace.count_download: an export of the caller is about to be downloaded: counts it and answers where it lies. MR031 where there is none; an
-- expired one is answered with expired = true, and not counted, nor is one whose object is gone.
create or replace function millrace.count_download(p_history_id uuid) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_row millrace.export_history;
begin
  update millrace.export_history h
     set download_count = h.download_count + case when h.expires_at > millrace.now() and exists (
           select from millrace.storage_object o where o.tenant_id = h.tenant_id and o.bucket = 'exports' and o.name = h.file_path) then 1 else 0 end
   where h.id = p_history_id and (v_scope is null or h.tenant_id = v_scope) and (v_user is null or h.user_id = v_user) returning h.* into v_row;
  if not found then
    raise exception 'export % does not exist', p_history_id using errcode = 'MR031';
  end if;
  return to_jsonb(v_row) || jsonb_build_object('expired', v_row.expires_at <= millrace.now(), 'bucket', 'exports');
end;
$$;
