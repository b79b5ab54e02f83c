-- millrace.list_profiles: the profiles a caller may see (a user's own; of a tenant, where it is confined to one), by id behind p_after. p_id: that one.
create or replace function millrace.list_profiles(p_after uuid default null, p_limit integer default 100, p_id uuid default null, p_owner uuid default null)
  returns table (id uuid, tenant_id uuid, account_owner_id uuid, display_name text, created_at timestamptz, updated_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_owner uuid := case when millrace.caller() = 'authenticated'
                       then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) else p_owner end;
begin
  return query
  select p.id, p.tenant_id, p.account_owner_id, p.display_name, p.created_at, p.updated_at from millrace.user_profiles p
   where (v_scope is null or p.tenant_id = v_scope) and (v_owner is null or p.account_owner_id = v_owner)
     and (p_id is null or p.id = p_id) and (p_after is null or p.id > p_after)
   order by p.id limit least(greatest(coalesce(p_limit, 100), 1), 1000);
end;
$$;
