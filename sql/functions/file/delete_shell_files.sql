-- millrace.delete_shell_files: removes the files of p_ids that are the caller's, with their objects; their jobs that live are cancelled. Answers
-- the rows as they were.
create or replace function millrace.delete_shell_files(p_ids uuid[]) returns setof millrace.shell_files
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select g.* from millrace.drop_files(array(
    select f.id from millrace.shell_files f
     where f.id = any (p_ids) and (v_scope is null or f.tenant_id = v_scope) and (v_user is null or f.owner_id = v_user)), 'File deleted') g;
end;
$$;
