-- millrace.visible_file: the file with this id if the caller may see it; MR041 for any other. A user sees the own ones, an engine role those of the tenant of the call.
create or replace function millrace.visible_file(p_file_id uuid) returns millrace.shell_files
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_scope uuid := millrace.tenant_scope();
  v_file millrace.shell_files;
begin
  select f.* into v_file from millrace.shell_files f
   where f.id = p_file_id and (v_scope is null or f.tenant_id = v_scope) and (v_user is null or f.owner_id = v_user);
  if not found then
    raise exception 'document % does not exist', p_file_id using errcode = 'MR041';
  end if;
  return v_file;
end;
$$;
