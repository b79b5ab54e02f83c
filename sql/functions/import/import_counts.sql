-- millrace.import_counts: live jobs of a source by type and by what would become of them, with one of each.
create or replace function millrace.import_counts(p_source text, p_schema text, p_rows millrace.import_row[], p_map jsonb)
  returns setof millrace.import_count language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select j.source_type, j.job_type, j.queue, bool_or(j.is_new), j.reason, count(*), min((p_rows[j.ord]).source_id)
    from millrace.judge_imports(p_source, p_schema, p_rows, p_map) j group by j.source_type, j.job_type, j.queue, j.reason;
end;
$$;
