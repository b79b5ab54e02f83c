-- millrace.sweep_objects: removes documents that were stored and never became a file (U-08): no file row names them, and they were last
-- stored before the grace. Whoever makes a file of one at this moment holds its row, and it is passed over. Answers how many.
create or replace function millrace.sweep_objects(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_before timestamptz := millrace.now() - make_interval(secs => millrace.config_integer('storage.orphan_grace_seconds', 86400));
  v_count integer;
begin
  with old as materialized (
    select o.object_id from millrace.storage_object o
     where o.bucket = 'medical-docs' and not o.claimed and o.updated_at < v_before order by o.updated_at limit p_limit for update skip locked),
  d as (delete from millrace.storage_object o using old x where o.object_id = x.object_id returning o.*),
  a as (
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, old_values, reason)
    select millrace.now(), d.tenant_id, millrace.actor(), 'storage_object', d.object_id::text, 'DELETE', 'object_removed',
           jsonb_build_object('bucket', d.bucket, 'sha256', encode(d.sha256, 'hex'), 'size_bytes', d.size_bytes), 'Object without a file removed' from d)
  select count(*) into v_count from d;
  return v_count;
end;
$$;
