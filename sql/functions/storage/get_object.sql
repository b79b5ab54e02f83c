-- millrace.get_object: one storage object as far as the caller may see it, or MR031. An unconfined service that names an object of several
-- tenants gets the newest.
create or replace function millrace.get_object(p_bucket text, p_name text) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_object millrace.storage_object;
begin
  select o.* into v_object from millrace.storage_object o
   where o.bucket = p_bucket and o.name = p_name and millrace.object_visible(o.tenant_id, o.owner_id, v_scope)
   order by o.created_at desc limit 1;
  if not found then
    raise exception 'object % does not exist in bucket %', quote_literal(p_name), quote_literal(p_bucket) using errcode = 'MR031';
  end if;
  return millrace.object_json(v_object);
end;
$$;
