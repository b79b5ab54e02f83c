-- millrace.check_storage_quota: whether a user's unexpired exports leave room for one more (X-19): denied when used >= limit (export.quota_bytes).
create or replace function millrace.check_storage_quota(p_user_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_limit bigint := millrace.config_bigint('export.quota_bytes', 104857600);
  v_used numeric;
begin
  if millrace.caller() = 'authenticated' and p_user_id is distinct from millrace.current_user_id() then
    raise exception 'p_user_id must be the caller' using errcode = 'MR015';
  end if;
  select coalesce(sum(h.file_size), 0) into v_used from millrace.export_history h
   where h.user_id = p_user_id and h.expires_at > millrace.now() and (v_scope is null or h.tenant_id = v_scope);
  return jsonb_build_object('allowed', v_used < v_limit, 'usedMB', round(v_used / 1048576, 2), 'limitMB', trim_scale(round(v_limit / 1048576.0, 2)));
end;
$$;
