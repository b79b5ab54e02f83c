-- millrace.release_objects: trigger, once a statement; objects that no file row names any more may be swept.
create or replace function millrace.release_objects() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update millrace.storage_object o set claimed = false from old_rows f
   where o.tenant_id = f.tenant_id and o.bucket = f.bucket and o.name = f.storage_path and o.claimed
     and not exists (select from millrace.shell_files x where x.tenant_id = f.tenant_id and x.bucket = f.bucket and x.storage_path = f.storage_path);
  return null;
end;
$$;
