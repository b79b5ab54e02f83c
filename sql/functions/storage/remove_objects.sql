-- millrace.remove_objects: removes objects by name and answers those that were. What is missing, belongs to somebody else, or is the
-- document of a file row that a user still has, is left out in silence.
create or replace function millrace.remove_objects(p_bucket text, p_names text[]) returns setof jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user boolean := millrace.caller() = 'authenticated';
begin
  if cardinality(p_names) > 1000 then
    raise exception 'at most 1000 objects can be removed in one call' using errcode = 'MR024';
  end if;
  return query
  with gone as materialized (
    select o.object_id from millrace.storage_object o
     where o.bucket = p_bucket and o.name = any (p_names) and millrace.object_visible(o.tenant_id, o.owner_id, v_scope)
       -- claimed, not a look at shell_files: whoever makes a file of it holds the object, and afterwards this row is judged anew.
       and not (v_user and o.claimed)
     order by o.object_id for update),
  d as (delete from millrace.storage_object o using gone g where o.object_id = g.object_id returning o.*),
  a as (
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, old_values, reason)
    select millrace.now(), d.tenant_id, millrace.actor(), 'storage_object', d.object_id::text, 'DELETE', 'object_removed',
           jsonb_build_object('bucket', d.bucket, 'sha256', encode(d.sha256, 'hex'), 'size_bytes', d.size_bytes), 'Object removed' from d)
  select millrace.object_json(row(d.*)::millrace.storage_object) from d;
end;
$$;
