-- millrace.ensure_profile: the profile of a user's own person, made where there is none.
create or replace function millrace.ensure_profile(p_tenant uuid, p_owner uuid) returns uuid
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := millrace.default_profile_id(p_tenant, p_owner);
begin
  if not exists (select from millrace.user_profiles p where p.id = v_id) then
    insert into millrace.user_profiles (id, tenant_id, account_owner_id, display_name, created_at, updated_at)
    values (v_id, p_tenant, p_owner, 'self', millrace.now(), millrace.now()) on conflict do nothing;
    if found then
      perform millrace.audit_for(p_tenant, 'user_profiles', v_id::text, 'profile_created', null, jsonb_build_object('account_owner_id', p_owner),
                                 'Profile created', v_id);
    end if;
  end if;
  return v_id;
end;
$$;
