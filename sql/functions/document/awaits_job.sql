-- millrace.awaits_job: whether a document goes on by this job: the one it waits for, or the callback of its batch. A document that has ended goes on by any: by a dead letter that was
-- redriven. One that is being processed by another job has left this one behind.
create or replace function millrace.awaits_job(p_document millrace.document, p_job_id uuid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_document.state <> 'processing' or coalesce(p_document.job_id = p_job_id, false)
      or coalesce(p_document.batch_id = (select millrace.uuid_or_null(j.payload ->> 'batch_id') from millrace.job_fact j where j.job_id = p_job_id), false);
end;
$$;
