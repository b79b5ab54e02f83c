-- millrace.put_shell_files: insert and upsert on shell_files: each row is an object of the caller that becomes a file, with its first job, in this
-- transaction. Fields: storage_path, patient_id, idempotency_key, file_name, status ('uploaded', or left out). p_conflict says what a key that the
-- owner has used before means: 'error', 'ignore' (no row), or 'merge': the file that is there, as it is, where content and patient
-- are the same.
-- A user names own objects and own profiles; a service those of the profile's owner.
create or replace function millrace.put_shell_files(p_rows jsonb, p_conflict text default 'error') returns setof millrace.shell_files
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_scope uuid := millrace.tenant_scope();
  v_row jsonb;
  v_file millrace.shell_files;
begin
  if jsonb_typeof(p_rows) is distinct from 'array' or jsonb_array_length(p_rows) not between 1 and 1000
     or coalesce(p_conflict, '') not in ('error', 'ignore', 'merge') then
    raise exception 'p_rows must be a JSON array of 1 to 1000 objects, p_conflict error, ignore or merge' using errcode = 'MR024';
  end if;
  for v_row in select r from jsonb_array_elements(p_rows) r loop
    v_file := millrace.put_shell_file(v_row, p_conflict, v_user, v_scope);
    if v_file.id is not null then
      return next v_file;
    end if;
  end loop;
end;
$$;
