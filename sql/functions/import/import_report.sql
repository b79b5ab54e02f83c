-- millrace.import_report: what millrace.import_batch would do with all live jobs of a source, counted; nothing is held or changed. A reason says why jobs
-- are left alone, null that they would be moved. Reads the source with the rights of the caller.
create or replace function millrace.import_report(p_source text, p_schema text, p_map jsonb default '{}')
  returns setof millrace.import_count language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_row millrace.import_row;
  v_rows millrace.import_row[] := '{}';
  v_counts millrace.import_count[] := '{}';
begin
  for v_row in select r.* from millrace.import_read(p_source, p_schema, p_map, null, null, null) r loop
    v_rows := v_rows || v_row;
    if cardinality(v_rows) >= 200 then
      v_counts := v_counts || array(select row(c.*)::millrace.import_count from millrace.import_counts(p_source, p_schema, v_rows, p_map) c);
      v_rows := '{}';
    end if;
  end loop;
  -- Also without any: a map that is wrong is wrong.
  v_counts := v_counts || array(select row(c.*)::millrace.import_count from millrace.import_counts(p_source, p_schema, v_rows, p_map) c);
  return query
  select c.source_type, c.job_type, c.queue, bool_or(c.is_new), c.reason, sum(c.jobs)::bigint, min(c.example)
    from unnest(v_counts) c group by c.source_type, c.job_type, c.queue, c.reason order by c.source_type, c.reason nulls first;
end;
$$;
