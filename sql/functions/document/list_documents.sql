-- millrace.list_documents: documents of the caller, newest first, behind p_before; in one state, or of one patient, where given.
create or replace function millrace.list_documents(p_before uuid default null, p_limit integer default 50, p_state text default null, p_patient uuid default null) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_scope uuid := millrace.tenant_scope();
begin
  if p_state is not null and p_state not in ('uploaded', 'processing', 'completed', 'partial', 'failed', 'rejected') then
    raise exception 'state must be uploaded, processing, completed, partial, failed or rejected' using errcode = 'MR024';
  end if;
  return query
  select millrace.document_json(row(f.*)::millrace.shell_files) from millrace.shell_files f
   where (v_scope is null or f.tenant_id = v_scope) and (v_user is null or f.owner_id = v_user) and (p_patient is null or f.patient_id = p_patient)
     and (p_state is null or f.status = p_state) and (p_before is null or f.id < p_before)
   order by f.id desc limit least(greatest(coalesce(p_limit, 50), 1), 1000);
end;
$$;
