-- millrace.take_wake: whether something was told of a job's parse since it last looked (millrace.wake_job, millrace.ask_parse); asked once, it is forgotten. For the settlement of a wait. The lock is waited for: who tells at
-- the same moment is either seen here, or finds the job waiting afterwards. Lock order: the lease (by the caller), then the request; who tells holds the request and waits for no job.
create or replace function millrace.take_wake(p_job_id uuid) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_request millrace.parse_request;
begin
  select r.* into v_request from millrace.parse_request r where r.job_id = p_job_id order by r.run desc limit 1 for update;
  if v_request.woken is not true then
    return false;
  end if;
  update millrace.parse_request r set woken = false where r.file_id = v_request.file_id and r.run = v_request.run;
  return true;
end;
$$;
