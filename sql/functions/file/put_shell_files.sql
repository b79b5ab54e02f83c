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
  -- All that the rows hold, in one order: calls with the same rows in another order do not wait for each other.
  perform from millrace.user_profiles p
    where p.id in (select millrace.uuid_or_null(r ->> 'patient_id') from jsonb_array_elements(p_rows) r) and (v_scope is null or p.tenant_id = v_scope)
      and (v_user is null or p.account_owner_id = v_user)
    order by p.id for key share;
  perform from millrace.storage_object o
    where o.bucket = 'medical-docs' and o.name in (select r ->> 'storage_path' from jsonb_array_elements(p_rows) r) and (v_scope is null or o.tenant_id = v_scope)
      and (v_user is null or o.owner_id = v_user)
    order by o.object_id for update;
  for v_row in select r from jsonb_array_elements(p_rows) r loop
    v_file := millrace.put_shell_file(v_row, p_conflict, v_user, v_scope);
    if v_file.id is not null then
      return next v_file;
    end if;
  end loop;
end;
$$;
