-- millrace.tenant_of_user: where rows go that an unconfined service makes for a user: the tenant of the user's profiles, else the tenant of
-- one that tokens without a tenant give the user.
create or replace function millrace.tenant_of_user(p_user uuid) returns uuid
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((select p.tenant_id from millrace.user_profiles p where p.account_owner_id = p_user order by p.id limit 1), p_user);
end;
$$;
