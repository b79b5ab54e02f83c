-- millrace.version_of: a short name for what people have set of a thing: another one after every change of that, the same while only what moves by
-- itself has moved (counters, times of runs, how far a file is). Null where there is none that the caller may see. Nouns: queue, limit
-- (provider:endpoint), cron (a name in the tenant of the call), tenant, profile, file. Stable: read in one statement with the thing itself, both are of
-- one moment.
create or replace function millrace.version_of(p_noun text, p_key text) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_set jsonb;
begin
  if p_noun not in ('profile', 'file') and millrace.caller() in ('anon', 'authenticated') then
    return null;
  end if;
  case p_noun
    when 'queue' then
      select to_jsonb(q) - 'queue_id' into v_set from millrace.queue q where q.queue = p_key;
    when 'limit' then
      select jsonb_object_agg(f.field, to_jsonb(p) -> f.field) into v_set from millrace.api_rate_limits p cross join millrace.limit_fields() f
       where p.provider_name = split_part(p_key, ':', 1) and p.api_endpoint = substr(p_key, strpos(p_key, ':') + 1);
    when 'cron' then
      select jsonb_build_object('id', c.cron_id, 'schedule', c.schedule, 'time_zone', c.time_zone, 'job', c.job, 'enabled', c.enabled, 'missed', c.missed)
        into v_set from millrace.cron c where c.tenant_id = millrace.current_tenant() and c.name = p_key;
    when 'tenant' then
      select to_jsonb(t) into v_set from millrace.tenant t
       where t.tenant_id = millrace.uuid_or_null(p_key) and (v_scope is null or t.tenant_id = v_scope);
    when 'profile' then
      select to_jsonb(p) into v_set from millrace.list_profiles(null, 1, millrace.uuid_or_null(p_key)) p where p.id = millrace.uuid_or_null(p_key);
    when 'file' then
      select jsonb_build_object('id', f.id, 'owner', f.owner_id, 'patient', f.patient_id, 'name', f.file_name, 'path', f.bucket || '/' || f.storage_path,
                                'sha256', encode(f.sha256, 'hex'))
        into v_set from millrace.shell_files f
       where f.id = millrace.uuid_or_null(p_key) and (v_scope is null or f.tenant_id = v_scope)
         and (millrace.caller() <> 'authenticated' or f.owner_id = millrace.current_user_id());
    else
      raise exception 'there are no versions of %', p_noun using errcode = 'MR024';
  end case;
  return translate(encode(substr(sha256(convert_to(v_set::text, 'UTF8')), 1, 16), 'base64'), '+/=', '-_');
end;
$$;
