-- millrace.receive_parse: what a parser brought for a job, believed and stored already: p_result has blob (as in millrace.check_stored), or failed (a reason). Answers, in one transaction with all
-- that it means: 'processed': the first time and the job waited for it (W-08: row, event, wake-up), or is a dead letter whose redrive, or whose document begun anew, will find it; 'already': the id was seen, or the job does not wait any more
-- (W-07, millrace.parse_awaits), as one that was cancelled; 'unknown': no such job ever asked (W-09). Content that loses is nobody's: the row decides which hash counts (G05). Lock order: the request, then the inbox, then the job.
create or replace function millrace.receive_parse(p_source text, p_webhook_id text, p_job_id uuid, p_result jsonb) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_request millrace.parse_request;
  v_waits boolean;
  v_sha256 bytea;
begin
  select r.* into v_request from millrace.parse_request r where r.job_id = p_job_id order by r.run desc limit 1 for update;
  if not found then
    return 'unknown';
  end if;
  v_waits := millrace.parse_awaits(v_request, not p_result ? 'failed');
  if not millrace.take_webhook(p_source || ':' || p_job_id, p_webhook_id, v_request.tenant_id,
       case when not v_waits then 'ignored' when p_result ? 'failed' then 'failed' else 'parsed' end) or not v_waits then
    return 'already';
  end if;
  if p_result ? 'failed' then
    update millrace.parse_request r set state = 'failed', reason = left(p_result ->> 'failed', 500), ended_at = v_now where r.file_id = v_request.file_id and r.run = v_request.run;
  else
    v_sha256 := millrace.take_blob(v_request.tenant_id, p_result -> 'blob');
    update millrace.parse_request r set state = 'arrived', reason = null, sha256 = v_sha256, ended_at = v_now where r.file_id = v_request.file_id and r.run = v_request.run;
  end if;
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids, data)
  select v_now, j.tenant_id, case when p_result ? 'failed' then 'document.parse_failed' else 'document.parse_arrived' end, j.queue_id, array[p_job_id],
         jsonb_build_object('file_id', v_request.file_id, 'bytes', p_result #> '{blob,size_bytes}')
    from millrace.job_fact j where j.job_id = p_job_id;
  perform millrace.wake_job(p_job_id, 'Woken by a webhook');
  return 'processed';
end;
$$;
