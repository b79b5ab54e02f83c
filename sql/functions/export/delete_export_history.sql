-- millrace.delete_export_history: removes exports of p_ids that are the caller's, with their objects (X-26). Answers the rows as they were.
create or replace function millrace.delete_export_history(p_ids uuid[]) returns setof millrace.export_history
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
begin
  return query
  select g.* from millrace.drop_exports(array(
    select h.id from millrace.export_history h
     where h.id = any (p_ids) and (v_scope is null or h.tenant_id = v_scope) and (v_user is null or h.user_id = v_user) order by h.id), 'Export deleted') g;
end;
$$;
