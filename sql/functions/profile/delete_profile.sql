-- millrace.delete_profile: removes a profile of the caller with its files and their objects; live jobs of those files are cancelled. What the
-- objects held goes with the sweep of orphans.
create or replace function millrace.delete_profile(p_profile_id uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid;
begin
  select p.tenant_id into v_tenant from millrace.user_profiles p
   where p.id = p_profile_id and p.id in (select o.id from millrace.list_profiles(null, 1, p_profile_id) o) for update;
  if not found then
    raise exception 'profile % does not exist', p_profile_id using errcode = 'MR036';
  end if;
  perform from millrace.drop_files(array(select f.id from millrace.shell_files f where f.patient_id = p_profile_id), 'Profile deleted');
  delete from millrace.user_profiles p where p.id = p_profile_id;
  perform millrace.audit_for(v_tenant, 'user_profiles', p_profile_id::text, 'profile_deleted', '{}', null, 'Profile deleted', p_profile_id);
end;
$$;
