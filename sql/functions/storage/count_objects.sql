-- millrace.count_objects: trigger, once a statement; what a tenant stores changes with its objects, and content that an object let go is noted
-- for the sweep. Both are appended, so that nobody waits for a row.
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
    insert into millrace.orphan_note (tenant_id, sha256, noted_at) select distinct o.tenant_id, o.sha256, millrace.now() from old_rows o;
  else
    insert into millrace.usage_delta (tenant_id, bytes, files)
    select n.tenant_id, sum(n.size_bytes - o.size_bytes), 0 from new_rows n join old_rows o on o.object_id = n.object_id
     where n.size_bytes <> o.size_bytes group by n.tenant_id;
    insert into millrace.orphan_note (tenant_id, sha256, noted_at)
    select distinct o.tenant_id, o.sha256, millrace.now() from new_rows n join old_rows o on o.object_id = n.object_id where n.sha256 <> o.sha256;
  end if;
  return null;
end;
$$;
