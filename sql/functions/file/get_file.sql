-- millrace.get_file: a file of the caller with where its first job stands; MR039 for any other.
create or replace function millrace.get_file(p_file_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_scope uuid := millrace.tenant_scope();
  v_file millrace.shell_files;
begin
  select f.* into v_file from millrace.shell_files f
   where f.id = p_file_id and (v_scope is null or f.tenant_id = v_scope) and (v_user is null or f.owner_id = v_user);
  if not found then
    raise exception 'file % does not exist', p_file_id using errcode = 'MR039';
  end if;
  return millrace.file_json(v_file) || jsonb_build_object('job', (
    select jsonb_build_object('job_id', b.job_id, 'status', b.status, 'stage', b.stage, 'progress', b.progress) from millrace.job_brief_of(v_file.job_id) b
     where b.job_id is not null));
end;
$$;
