-- millrace.require_version: before a change of what somebody has read: raises MR040 unless it is still in one of the versions (millrace.version_of)
-- that the caller names; '*' stands for any. Locks it, so that nobody changes it between this and the change that follows in the transaction.
create or replace function millrace.require_version(p_noun text, p_key text, p_versions text[]) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id uuid := millrace.uuid_or_null(p_key);
  v_version text;
begin
  -- Only what the caller may see is locked.
  if millrace.version_of(p_noun, p_key) is not null then
    case p_noun
      when 'queue' then
        perform from millrace.queue q where q.queue = p_key for no key update;
      when 'limit' then
        perform from millrace.api_rate_limits p
          where p.provider_name = split_part(p_key, ':', 1) and p.api_endpoint = substr(p_key, strpos(p_key, ':') + 1) for no key update;
      when 'cron' then
        perform from millrace.cron c where c.tenant_id = millrace.current_tenant() and c.name = p_key for no key update;
      when 'tenant' then
        perform from millrace.tenant t where t.tenant_id = v_id for no key update;
      when 'profile' then
        perform from millrace.user_profiles p where p.id = v_id for no key update;
      when 'file' then
        -- Objects before files, as by everybody.
        perform from millrace.storage_object o join millrace.shell_files f on f.tenant_id = o.tenant_id and f.bucket = o.bucket and f.storage_path = o.name
          where f.id = v_id order by o.object_id for no key update of o;
        perform from millrace.shell_files f where f.id = v_id for no key update;
    end case;
  end if;
  v_version := millrace.version_of(p_noun, p_key);
  if v_version is null or not (v_version = any (p_versions) or '*' = any (p_versions)) then
    raise exception 'it is not as it was when it was read: read it again' using errcode = 'MR040';
  end if;
end;
$$;
