-- millrace.process_job: an ingested document is to go on now: the job that it waits for is run next instead of at its time, whatever stage it is in. Workers do the work (B-02, B-03); what runs already looks again when it goes on waiting.
-- p_job_id: the job_id of upload_jobs. Answers its status there. MR009: there is no such job, or it is not the caller's.
create or replace function millrace.process_job(p_job_id uuid) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_job uuid;
begin
  if not exists (select from millrace.job_fact f join millrace.job_type t on t.type_id = f.type_id
                  where f.job_id = p_job_id and t.job_type = 'ingest_document' and millrace.job_visible(f.tenant_id, f.owner_id, v_scope)) then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  v_job := coalesce((millrace.ingest_state(p_job_id) ->> 'job_id')::uuid, p_job_id);
  perform from millrace.parse_request r where r.job_id = v_job order by r.run desc limit 1 for update;
  perform millrace.wake_job(v_job, 'Asked for by process_job');
  return (select u.status from millrace.upload_jobs u where u.job_id = p_job_id);
end;
$$;
