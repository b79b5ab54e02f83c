-- millrace.safe_file_name: a file name as it may stand in the name of an object: letters, digits and . _ - only, 100 at most, never empty, never
-- a folder.
create or replace function millrace.safe_file_name(p_name text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select coalesce(nullif(ltrim(right(regexp_replace(coalesce(p_name, ''), '[^A-Za-z0-9._-]+', '_', 'g'), 100), '.'), ''), 'file')
$$;
