-- millrace.hold_stage: the document of a job whose delivery still holds its lease, both locked until the end of the transaction: the fence of what a stage writes before it is settled. MR001 for
-- a stale delivery, and for a job that the document has left behind; MR039 where the file is gone. The lease is only shared, so that progress can be told meanwhile; who takes it away waits.
create or replace function millrace.hold_stage(p_job_id uuid, p_token uuid) returns millrace.document
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document;
begin
  if millrace.claim_of(p_token) is not null then
    perform millrace.pin_claimed(c.worker_id, array[p_job_id], array[p_token]) from millrace.claim c where c.claim_id = millrace.claim_of(p_token);
  end if;
  perform from millrace.lease l where l.job_id = p_job_id and l.token = p_token for key share;
  if not found then
    raise exception 'job % is not held by this lease', p_job_id using errcode = 'MR001';
  end if;
  v_document := millrace.lock_document(p_job_id);
  if not millrace.awaits_job(v_document, p_job_id) then
    raise exception 'the document of job % has gone on without it', p_job_id using errcode = 'MR001';
  end if;
  return v_document;
end;
$$;
