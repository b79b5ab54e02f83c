-- millrace.update_export_history: of an export nothing can be changed but that it was downloaded once more: download_count rises by one, whatever
-- number is given, so that two who count at once are both counted (X-18). Of p_ids, what the caller may see.
create or replace function millrace.update_export_history(p_ids uuid[], p_patch jsonb) returns setof millrace.export_history
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_bad text;
begin
  if jsonb_typeof(p_patch) is distinct from 'object' then
    raise exception 'p_patch must be a JSON object' using errcode = 'MR024';
  end if;
  select k into v_bad from jsonb_object_keys(p_patch) k where k <> 'download_count' limit 1;
  if v_bad is not null then
    raise exception 'permission denied for column % of export_history', quote_ident(v_bad) using errcode = '42501';
  end if;
  if coalesce(p_patch ->> 'download_count', '') !~ '^[0-9]{1,9}$' then
    raise exception 'download_count must be a whole number' using errcode = 'MR024';
  end if;
  return query
  update millrace.export_history h set download_count = h.download_count + 1
   where h.id = any (p_ids) and (v_scope is null or h.tenant_id = v_scope) and (v_user is null or h.user_id = v_user)
  returning h.*;
end;
$$;
