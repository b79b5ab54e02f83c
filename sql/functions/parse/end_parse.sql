-- millrace.end_parse: the stage has what it waited for, and is being settled with it in this transaction: nobody waits any more, and the content is the result's now.
create or replace function millrace.end_parse(p_job_id uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.lock_document(p_job_id);
begin
  update millrace.parse_request r set state = 'arrived', sha256 = null, ended_at = coalesce(r.ended_at, millrace.now())
   where r.file_id = v_document.file_id and r.run = v_document.run and r.job_id = p_job_id;
end;
$$;
