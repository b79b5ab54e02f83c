-- millrace.next_object: the first object of a bucket whose name lies in [p_from, p_below), of one tenant or (p_scope null) of any, of one owner or
-- (p_owner null) of any. One step along an index; the names of one owner lie together.
create or replace function millrace.next_object(p_scope uuid, p_owner uuid, p_bucket text, p_from text, p_below text) returns millrace.storage_object
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_object millrace.storage_object;
begin
  if p_scope is null then
    select o.* into v_object from millrace.storage_object o
     where o.bucket = p_bucket and o.name >= p_from collate "C" and o.name < p_below collate "C" and (p_owner is null or o.owner_id = p_owner)
     order by o.bucket, o.name, o.created_at desc limit 1;
  else
    select o.* into v_object from millrace.storage_object o
     where o.tenant_id = p_scope and o.bucket = p_bucket and o.name >= p_from collate "C" and o.name < p_below collate "C"
       and (p_owner is null or o.owner_id = p_owner)
     order by o.tenant_id, o.bucket, o.name limit 1;
  end if;
  return v_object;
end;
$$;
