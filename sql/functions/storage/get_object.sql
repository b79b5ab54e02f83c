-- millrace.get_object: one storage object as far as the caller may see it, or MR031. An unconfined service that names an object of several
-- tenants gets the newest. The file of an export is not there any more once the last export that names it has expired, whenever it is removed (X-18); until then
-- expires_in says how many whole seconds it has left, so that no link and no cache outlives it (X-07). The text of an ingested document has a name there too: millrace.parsed_object.
create or replace function millrace.get_object(p_bucket text, p_name text) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_object millrace.storage_object;
  v_left interval;
begin
  if p_bucket = 'medical-docs' and p_name like '%/parsed/%.md' then
    v_object := millrace.parsed_object(p_name, v_scope);
  end if;
  if v_object.object_id is null then
    select o.* into v_object from millrace.storage_object o
     where o.bucket = p_bucket and o.name = p_name and millrace.object_visible(o.tenant_id, o.owner_id, v_scope)
     order by o.created_at desc limit 1;
  end if;
  if v_object.bucket = 'exports' then
    select max(h.expires_at) - millrace.now() into v_left from millrace.export_history h where h.tenant_id = v_object.tenant_id and h.file_path = v_object.name;
  end if;
  if v_object.object_id is null or v_left <= interval '0' then
    raise exception 'object % does not exist in bucket %', quote_literal(p_name), quote_literal(p_bucket) using errcode = 'MR031';
  end if;
  return millrace.object_json(v_object) || jsonb_build_object('expires_in', floor(extract(epoch from v_left))::bigint);
end;
$$;
