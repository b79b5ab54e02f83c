-- millrace.reclaim_claims: ends claims of dead workers, locked by the caller; the jobs still held are charged and retried (see
-- millrace.lose_jobs), from now on one by one. Answers their ids.
create or replace function millrace.reclaim_claims(p_claim_ids uuid[], p_error_type text, p_process_death boolean, p_at_once boolean) returns uuid[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.moving[];
begin
  if cardinality(p_claim_ids) = 0 then
    return '{}';
  end if;
  v_rows := millrace.end_claims(p_claim_ids);
  perform millrace.lose_jobs(v_rows, '{}', '{}', p_error_type, p_process_death, p_at_once);
  return array(select r.job_id from unnest(v_rows) r);
end;
$$;
