-- millrace.import_table: the table of another queue, looked at before anything is read from it: a table and no view (such as ours of the same
-- name), with the columns that are relied upon, and without row security that would hide rows from the caller. Answers the name that is
-- there.
create or replace function millrace.import_table(p_schema text, p_names text[], p_columns text[]) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
  v_missing text;
begin
  if coalesce(p_schema, 'millrace') = 'millrace' then
    raise exception 'p_schema must name the schema of the other queue' using errcode = 'MR024';
  end if;
  select c.oid, c.relname, c.relkind into v_found
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join unnest(p_names) with ordinality w(name, i) on w.name = c.relname
   where n.nspname = p_schema and c.relkind in ('r', 'p', 'v', 'm', 'f') order by w.i limit 1;
  if not found then
    raise exception 'schema % has no table %', quote_ident(p_schema), array_to_string(p_names, ' or ')
      using errcode = 'MR024', hint = 'name the schema of the other queue with --schema';
  elsif v_found.relkind not in ('r', 'p') then
    raise exception '%.% is not a table', quote_ident(p_schema), quote_ident(v_found.relname)
      using errcode = 'MR024', hint = 'where the table of the other queue was moved to another schema, name that with --schema';
  end if;
  select string_agg(w.name, ', ' order by w.i) into v_missing from unnest(p_columns) with ordinality w(name, i)
   where not exists (select from pg_attribute a where a.attrelid = v_found.oid and a.attname = w.name and a.attnum > 0 and not a.attisdropped);
  if v_missing is not null then
    raise exception '%.% has no column %', quote_ident(p_schema), quote_ident(v_found.relname), v_missing
      using errcode = 'MR024', hint = 'it is not a table of this queue, or of a version that is not known';
  elsif row_security_active(v_found.oid) then
    raise exception 'row security of %.% may hide jobs from %', quote_ident(p_schema), quote_ident(v_found.relname), current_user
      using errcode = '42501', hint = 'connect as the owner of the table, or as a role that bypasses row security';
  end if;
  return v_found.relname;
end;
$$;
