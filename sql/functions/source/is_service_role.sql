-- millrace.is_service_role: whether the caller acts as service_role. Decided by the database role alone: the JWT claim `role` is a
-- setting that any SQL user may write, and gives no right.
create or replace function millrace.is_service_role() returns boolean
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select exists (select from pg_roles r where r.rolname = 'service_role' and pg_has_role(millrace.caller(), r.oid, 'member'))
$$;
