-- millrace.pin_claimed: gives jobs held under claims a lease of their own, with the token they have: for those that report progress, write
-- logs, are extended or asked to stop. Others are left alone. Answers how many were pinned.
create or replace function millrace.pin_claimed(p_worker_id text, p_job_ids uuid[], p_tokens uuid[]) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.moving[];
begin
  if not exists (select from unnest(p_tokens) t where millrace.claim_of(t) is not null) then
    return 0;
  end if;
  v_rows := millrace.take_claimed(p_worker_id, p_job_ids, p_tokens);
  insert into millrace.lease (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, token, worker_id, process, ready_seq, leased_at, renewed_at, lease_until)
  select r.job_id, r.tenant_id, r.queue_id, r.type_id, r.priority, r.flags, r.generation, r.attempt, r.delivery_count,
         r.crash_count, r.suspect_count, r.snooze_count, r.born_at, r.token, r.worker_id, c.process, r.ready_seq, r.started_at, r.started_at,
         r.started_at + coalesce(t.run_timeout, q.run_timeout) + q.lease
    from unnest(v_rows) r
    join millrace.claim c on c.claim_id = millrace.claim_of(r.token) and c.claimed_at = r.started_at
    join millrace.queue q on q.queue_id = r.queue_id join millrace.job_type t on t.type_id = r.type_id
   order by r.job_id;
  return cardinality(v_rows);
end;
$$;
