-- millrace.has_profile_access: whether the user of the request owns this profile. Exactly that, and nothing wider (S-10).
create or replace function millrace.has_profile_access(p_profile_id uuid) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from millrace.user_profiles p
                  where p.id = p_profile_id and p.account_owner_id = millrace.current_user_id() and p.tenant_id = millrace.current_tenant());
end;
$$;
