-- millrace.import_read: the reader of a source; see millrace.import_guardian.
create or replace function millrace.import_read(p_source text, p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[])
  returns setof millrace.import_row language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  case p_source
    when 'guardian' then return query select r.* from millrace.import_guardian(p_schema, p_map, p_limit, p_skip, p_skip_types) r;
    when 'export' then return query select r.* from millrace.import_export(p_schema, p_map, p_limit, p_skip, p_skip_types) r;
    when 'baseworker' then return query select r.* from millrace.import_baseworker(p_schema, p_map, p_limit, p_skip, p_skip_types) r;
    when 'pg-boss' then return query select r.* from millrace.import_pg_boss(p_schema, p_map, p_limit, p_skip, p_skip_types) r;
    when 'graphile-worker' then return query select r.* from millrace.import_graphile_worker(p_schema, p_map, p_limit, p_skip, p_skip_types) r;
    else
      raise exception 'p_source must be guardian, export, baseworker, pg-boss or graphile-worker' using errcode = 'MR024';
  end case;
end;
$$;
