-- millrace.update_shell_files: changes the files of p_ids that the caller may change. A user: file_name, and patient_id among own profiles; a
-- service also status and processing_error. Other columns are refused by name. Answers the rows as they are then.
create or replace function millrace.update_shell_files(p_ids uuid[], p_patch jsonb) returns setof millrace.shell_files
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_scope uuid := millrace.tenant_scope();
  v_allowed text[] := case when v_user is null then array['file_name', 'patient_id', 'status', 'processing_error'] else array['file_name', 'patient_id'] end;
  v_bad text;
  v_old millrace.shell_files;
  v_new millrace.shell_files;
begin
  if jsonb_typeof(p_patch) is distinct from 'object' then
    raise exception 'p_patch must be a JSON object' using errcode = 'MR024';
  end if;
  select k into v_bad from jsonb_object_keys(p_patch) k where k <> all (v_allowed) limit 1;
  if v_bad is not null then
    raise exception 'permission denied for column % of shell_files', quote_ident(v_bad) using errcode = '42501';
  end if;
  if p_patch ? 'file_name' and coalesce(octet_length(p_patch ->> 'file_name'), 0) not between 1 and 1024 then
    raise exception 'file_name must have 1 to 1024 bytes' using errcode = 'MR024';
  end if;
  if p_patch ? 'status' and coalesce(p_patch ->> 'status', '') not in ('uploaded', 'processing', 'completed', 'failed') then
    raise exception 'status must be uploaded, processing, completed or failed' using errcode = 'MR024';
  end if;
  -- Profiles before files, as by whoever deletes a profile.
  perform from millrace.user_profiles p where p.id = millrace.uuid_or_null(p_patch ->> 'patient_id') for key share;
  for v_old in
    select f.* from millrace.shell_files f
     where f.id = any (p_ids) and (v_scope is null or f.tenant_id = v_scope) and (v_user is null or f.owner_id = v_user) order by f.id for update
  loop
    if p_patch ? 'patient_id' and not exists (select from millrace.user_profiles p where p.id = millrace.uuid_or_null(p_patch ->> 'patient_id')
                                                 and p.tenant_id = v_old.tenant_id and p.account_owner_id = v_old.owner_id) then
      raise exception 'patient_id must be a profile of the caller' using errcode = '42501';
    end if;
    update millrace.shell_files f
       set file_name = coalesce(p_patch ->> 'file_name', f.file_name), patient_id = coalesce(millrace.uuid_or_null(p_patch ->> 'patient_id'), f.patient_id),
           status = coalesce(p_patch ->> 'status', f.status),
           processing_error = case when p_patch ? 'processing_error' then nullif(p_patch -> 'processing_error', 'null') else f.processing_error end,
           updated_at = millrace.now()
     where f.id = v_old.id returning f.* into v_new;
    perform millrace.audit_for(v_old.tenant_id, 'shell_files', v_old.id::text, 'file_changed', jsonb_build_object('status', v_old.status, 'patient_id', v_old.patient_id),
      jsonb_build_object('status', v_new.status, 'patient_id', v_new.patient_id, 'columns', (select jsonb_agg(k) from jsonb_object_keys(p_patch) k)),
      'File changed', v_new.patient_id);
    return next v_new;
  end loop;
end;
$$;
