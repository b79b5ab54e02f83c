-- millrace.job_statuses: the lines of millrace.job_status_lines as rows, by the places of their jobs in the list.
create or replace function millrace.job_statuses(p_job_ids uuid[]) returns table (ord integer, brief json)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select u.ord::integer, substr(l.line, 38)::json
    from string_to_table(millrace.job_status_lines(p_job_ids), E'\n') l(line)
    join unnest(p_job_ids) with ordinality u(job_id, ord) on u.job_id = left(l.line, 36)::uuid;
end;
$$;
