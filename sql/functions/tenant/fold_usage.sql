-- millrace.fold_usage: adds what a tenant stored since to its sum. The caller holds the tenant's row: whoever folds does so alone, and what others store
-- meanwhile comes as new deltas.
create or replace function millrace.fold_usage(p_tenant uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  with d as (delete from millrace.usage_delta x where x.tenant_id = p_tenant returning x.bytes, x.files, x.piece_bytes, x.dead_bytes)
  update millrace.tenant_usage u set used_bytes = u.used_bytes + s.bytes, used_files = u.used_files + s.files, piece_bytes = u.piece_bytes + s.piece_bytes,
         dead_bytes = u.dead_bytes + s.dead_bytes
    from (select coalesce(sum(d.bytes), 0) as bytes, coalesce(sum(d.files), 0) as files, coalesce(sum(d.piece_bytes), 0) as piece_bytes,
                 coalesce(sum(d.dead_bytes), 0) as dead_bytes, count(*) as deltas from d) s
   where u.tenant_id = p_tenant and s.deltas > 0;
end;
$$;
