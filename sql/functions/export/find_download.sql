-- millrace.find_download: what millrace.count_download answers, for who only asks whether it is there (HEAD): nothing is counted. MR031 where there is none.
create or replace function millrace.find_download(p_history_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_row millrace.export_history;
begin
  select h.* into v_row from millrace.export_history h
   where h.id = p_history_id and (v_scope is null or h.tenant_id = v_scope) and (v_user is null or h.user_id = v_user);
  if not found then
    raise exception 'export % does not exist', p_history_id using errcode = 'MR031';
  end if;
  return to_jsonb(v_row) || jsonb_build_object('expired', v_row.expires_at <= millrace.now(), 'bucket', 'exports');
end;
$$;
