-- millrace.hold_stage: the document of a job whose delivery still holds its lease (millrace.hold_lease), both locked until the end of the transaction. MR001 for a stale delivery, and for a job that the document has
-- left behind; MR039 where the file is gone.
create or replace function millrace.hold_stage(p_job_id uuid, p_token uuid) returns millrace.document
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document;
begin
  perform millrace.hold_lease(p_job_id, p_token);
  v_document := millrace.lock_document(p_job_id);
  if not millrace.awaits_job(v_document, p_job_id) then
    raise exception 'the document of job % has gone on without it', p_job_id using errcode = 'MR001';
  end if;
  return v_document;
end;
$$;
