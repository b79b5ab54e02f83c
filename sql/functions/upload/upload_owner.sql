-- millrace.upload_owner: whose file it will be, and of which patient: the profile given, which must be the user's own, or the profile of the
-- user's own person. A service that acts for nobody in particular names the profile, and its owner is the owner.
create or replace function millrace.upload_owner(p_tenant uuid, p_user uuid, p_patient uuid) returns table (owner_id uuid, patient_id uuid)
  language plpgsql rows 1 set search_path = pg_catalog, pg_temp
as $$
begin
  if p_patient is null and p_user is null then
    raise exception 'patient_id is required where no user is known' using errcode = 'MR024';
  end if;
  if p_patient is null then
    owner_id := p_user;
    patient_id := millrace.ensure_profile(p_tenant, p_user);
  else
    -- Held, so that nobody deletes the profile under the file.
    select p.account_owner_id, p.id into owner_id, patient_id from millrace.user_profiles p
     where p.id = p_patient and p.tenant_id = p_tenant and (p_user is null or p.account_owner_id = p_user) for key share;
    if not found then
      raise exception 'profile % does not exist', p_patient using errcode = 'MR036';
    end if;
  end if;
  return next;
end;
$$;
