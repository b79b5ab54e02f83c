-- millrace.put_export_jobs: insert on export_jobs by a service: millrace.create_export_job for each row (user_id, document_id, options; other columns
-- are the engine's). Answers the rows of the view, one JSON object each.
create or replace function millrace.put_export_jobs(p_rows jsonb) returns setof jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_row jsonb;
  v_job uuid;
begin
  if jsonb_typeof(p_rows) is distinct from 'array' or jsonb_array_length(p_rows) not between 1 and 1000 then
    raise exception 'p_rows must be a JSON array of 1 to 1000 objects' using errcode = 'MR024';
  end if;
  for v_row in select r from jsonb_array_elements(p_rows) r loop
    v_job := millrace.create_export_job(millrace.uuid_or_null(v_row ->> 'user_id'), millrace.uuid_or_null(v_row ->> 'document_id'), coalesce(v_row -> 'options', '{}'));
    -- In a statement of its own, which sees the job.
    return query select to_jsonb(e) from millrace.export_jobs e where e.id = v_job;
  end loop;
end;
$$;
