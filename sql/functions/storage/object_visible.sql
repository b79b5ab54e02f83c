-- millrace.object_visible: whether the caller of this call may see an object: a user what is in the own folder, everybody else what the
-- tenant of the call allows (p_scope, as millrace.tenant_scope gives it).
create or replace function millrace.object_visible(p_tenant uuid, p_owner uuid, p_scope uuid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if millrace.caller() = 'authenticated' then
    return coalesce(p_tenant = p_scope and p_owner = millrace.current_user_id(), false);
  end if;
  return p_scope is null or p_tenant = p_scope;
end;
$$;
