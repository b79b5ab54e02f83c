-- millrace.create_profile: a patient profile. A user makes their own; a service names the owner. p_id: chosen by the caller, so that a repeat
-- finds its own success; an id that is somebody else's: MR024.
create or replace function millrace.create_profile(p_name text, p_owner uuid default null, p_id uuid default null) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := millrace.current_user_id();
  v_owner uuid := case when millrace.caller() = 'authenticated' then v_user else coalesce(p_owner, v_user) end;
  v_tenant uuid;
  v_id uuid := coalesce(p_id, millrace.new_id());
begin
  if coalesce(octet_length(btrim(p_name)), 0) not between 1 and 400 then
    raise exception 'display_name must have 1 to 400 bytes' using errcode = 'MR024';
  end if;
  if v_owner is null then
    raise exception 'account_owner_id is required' using errcode = 'MR024';
  end if;
  if p_owner is distinct from v_owner and p_owner is not null then
    raise exception 'account_owner_id must be the caller' using errcode = 'MR015';
  end if;
  v_tenant := case when millrace.tenant_scope() is null then millrace.tenant_of_user(v_owner) else millrace.current_tenant() end;
  insert into millrace.user_profiles (id, tenant_id, account_owner_id, display_name, created_at, updated_at)
  values (v_id, v_tenant, v_owner, btrim(p_name), millrace.now(), millrace.now()) on conflict do nothing;
  if found then
    perform millrace.audit_for(v_tenant, 'user_profiles', v_id::text, 'profile_created', null, jsonb_build_object('account_owner_id', v_owner),
                               'Profile created', v_id);
  elsif not exists (select from millrace.user_profiles p where p.id = v_id and p.tenant_id = v_tenant and p.account_owner_id = v_owner) then
    raise exception 'id is in use' using errcode = 'MR024';
  end if;
  return v_id;
end;
$$;
