-- millrace.rename_profile: another name for a profile of the caller.
create or replace function millrace.rename_profile(p_profile_id uuid, p_name text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid;
begin
  if coalesce(octet_length(btrim(p_name)), 0) not between 1 and 400 then
    raise exception 'display_name must have 1 to 400 bytes' using errcode = 'MR024';
  end if;
  update millrace.user_profiles p set display_name = btrim(p_name), updated_at = millrace.now()
   where p.id = p_profile_id and p.id in (select o.id from millrace.list_profiles(null, 1, p_profile_id) o) returning p.tenant_id into v_tenant;
  if not found then
    raise exception 'profile % does not exist', p_profile_id using errcode = 'MR036';
  end if;
  -- Names of patients stay out of the audit.
  perform millrace.audit_for(v_tenant, 'user_profiles', p_profile_id::text, 'profile_renamed', '{}', '{}', 'Profile renamed', p_profile_id);
end;
$$;
