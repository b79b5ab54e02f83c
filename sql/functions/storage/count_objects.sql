-- millrace.count_objects: trigger, once a statement; what a tenant stores changes with its objects, and content that an object let go is noted
-- for the sweep, and counted as dead until that has looked at it. All is appended, so that nobody waits for a row.
create or replace function millrace.count_objects() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    insert into millrace.usage_delta (tenant_id, bytes, files)
    select n.tenant_id, sum(n.size_bytes), count(*) from new_rows n group by n.tenant_id;
  elsif tg_op = 'DELETE' then
    insert into millrace.usage_delta (tenant_id, bytes, files)
    select o.tenant_id, -sum(o.size_bytes), -count(*) from old_rows o group by o.tenant_id;
    with noted as (
      insert into millrace.orphan_note as n (tenant_id, sha256, noted_at, size_bytes)
      select o.tenant_id, o.sha256, millrace.now(),
             case when exists (select from millrace.orphan_note x where x.tenant_id = o.tenant_id and x.sha256 = o.sha256 and x.size_bytes > 0) then 0 else max(o.size_bytes) end
        from old_rows o group by o.tenant_id, o.sha256
      returning n.tenant_id, n.size_bytes)
    insert into millrace.usage_delta (tenant_id, bytes, files, dead_bytes)
    select n.tenant_id, 0, 0, sum(n.size_bytes) from noted n group by n.tenant_id having sum(n.size_bytes) > 0;
  else
    insert into millrace.usage_delta (tenant_id, bytes, files)
    select n.tenant_id, sum(n.size_bytes - o.size_bytes), 0 from new_rows n join old_rows o on o.object_id = n.object_id
     where n.size_bytes <> o.size_bytes group by n.tenant_id;
    with noted as (
      insert into millrace.orphan_note as n (tenant_id, sha256, noted_at, size_bytes)
      select o.tenant_id, o.sha256, millrace.now(),
             case when exists (select from millrace.orphan_note x where x.tenant_id = o.tenant_id and x.sha256 = o.sha256 and x.size_bytes > 0) then 0 else max(o.size_bytes) end
        from new_rows r join old_rows o on o.object_id = r.object_id where r.sha256 <> o.sha256 group by o.tenant_id, o.sha256
      returning n.tenant_id, n.size_bytes)
    insert into millrace.usage_delta (tenant_id, bytes, files, dead_bytes)
    select n.tenant_id, 0, 0, sum(n.size_bytes) from noted n group by n.tenant_id having sum(n.size_bytes) > 0;
  end if;
  return null;
end;
$$;
