-- millrace.wake_job: a job that waits for the time of its next look may look now. One that waits for other jobs is left alone. One that runs may have looked already: it is noted, and the settlement of its wait finds it
-- (millrace.take_wake). The caller holds the request.
create or replace function millrace.wake_job(p_job_id uuid, p_reason text) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ready uuid[];
begin
  v_ready := array(select d.job_id from millrace.delayed d where d.job_id = p_job_id and d.reason in ('scheduled', 'retrying', 'deferred') for update skip locked);
  if cardinality(v_ready) = 0 then
    update millrace.parse_request r set woken = true
     where r.job_id = p_job_id and not r.woken and r.run = (select max(o.run) from millrace.parse_request o where o.job_id = p_job_id);
    return false;
  end if;
  perform millrace.audit_jobs('run_now', v_ready, p_reason);
  perform millrace.promote_rows(v_ready);
  return true;
end;
$$;
