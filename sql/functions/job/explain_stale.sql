-- millrace.explain_stale: why a delivery that holds no lease cannot settle.
create or replace function millrace.explain_stale(p_job_id uuid, p_token uuid) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case
      -- A delivery that was taken away has its token in history too, when that was the end of the job.
      when not exists (select from millrace.attempt a where a.job_id = p_job_id and a.token = p_token and a.outcome = 'lost')
           and (exists (select from millrace.job_history h where h.job_id = p_job_id and h.token = p_token)
                or exists (select from millrace.attempt a where a.job_id = p_job_id and a.token = p_token)) then 'already_settled'
      when exists (select from millrace.claim_done d where d.claim_id = millrace.claim_of(p_token) and get_bit(d.done, millrace.position_of(p_token)) = 1) then 'already_settled'
      when exists (select from millrace.job_history h where h.job_id = p_job_id and h.status = 'cancelled' and h.redriven_at is null) then 'cancelled'
      when not exists (select from millrace.job_fact f where f.job_id = p_job_id) then 'not_found'
      else 'lease_lost' end);
end;
$$;
