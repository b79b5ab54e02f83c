-- millrace.hold_lease: the fence of what a delivery writes before it is settled: its lease, locked until the end of the transaction; MR001 for a stale delivery. A job that is held under a claim gets a lease of its own.
-- The lease is only shared, so that progress can be told meanwhile; who takes it away waits.
create or replace function millrace.hold_lease(p_job_id uuid, p_token uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if millrace.claim_of(p_token) is not null then
    perform millrace.pin_claimed(c.worker_id, array[p_job_id], array[p_token]) from millrace.claim c where c.claim_id = millrace.claim_of(p_token);
  end if;
  perform from millrace.lease l where l.job_id = p_job_id and l.token = p_token for key share;
  if not found then
    raise exception 'job % is not held by this lease', p_job_id using errcode = 'MR001';
  end if;
end;
$$;
