-- millrace.put_result: one result of a stage; p_item as in millrace.put_results.
create or replace function millrace.put_result(p_document millrace.document, p_item jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform millrace.put_results(p_document, jsonb_build_array(p_item), p_job_id);
end;
$$;
