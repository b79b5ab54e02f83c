-- millrace.count_parts: trigger, once a statement; what the pieces of a tenant's uploads take changes with them. Appended, so that nobody waits for a row.
create or replace function millrace.count_parts() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    insert into millrace.usage_delta (tenant_id, bytes, files, piece_bytes)
    select n.tenant_id, 0, 0, sum(n.size_bytes) from new_rows n group by n.tenant_id;
  else
    insert into millrace.usage_delta (tenant_id, bytes, files, piece_bytes)
    select o.tenant_id, 0, 0, -sum(o.size_bytes) from old_rows o group by o.tenant_id;
  end if;
  return null;
end;
$$;
