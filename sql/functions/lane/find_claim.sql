-- millrace.find_claim: the claim of a job that is or was in a lane, with its position; no row when it was never claimed from there. A claim is
-- later than its jobs (but for a clock that was set back, within a day): earlier partitions need not be looked at.
create or replace function millrace.find_claim(p_lane_id integer, p_seq bigint, p_job_id uuid, p_created_at timestamptz)
  returns table (claim_id uuid, claimed_at timestamptz, worker_id text, "position" integer)
  language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select c.claim_id, c.claimed_at, c.worker_id, array_position(c.job_ids, p_job_id) - 1
    from millrace.claim c
   where c.claimed_at >= p_created_at - interval '1 day' and c.span @> box(point(p_lane_id, p_seq), point(p_lane_id, p_seq)) and p_job_id = any (c.job_ids);
end;
$$;
