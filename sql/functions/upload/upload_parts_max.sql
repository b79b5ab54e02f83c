-- millrace.upload_parts_max: how many pieces an upload that stands at p_offset may have. Enough for bad networks and for clients that send 64 KiB at a
-- time; a client that sends single bytes must not cost a file, a row and two syncs for each of them without end.
create or replace function millrace.upload_parts_max(p_offset bigint) returns bigint
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select 10000 + p_offset / 65536
$$;
