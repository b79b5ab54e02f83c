-- millrace.dead_candidates: up to p_limit dead letters of one fingerprint below p_before, newest first; null: of any queue. One look per queue.
create or replace function millrace.dead_candidates(p_queue_id smallint, p_fingerprint text, p_before uuid, p_limit integer) returns uuid[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select d.job_id from millrace.queue q
     cross join lateral (
       select h.job_id from millrace.job_history h
        where h.queue_id = q.queue_id and h.fingerprint = p_fingerprint and h.job_id < p_before and h.status = 'failed' and h.redriven_at is null
        order by h.job_id desc limit p_limit) d
     where p_queue_id is null or q.queue_id = p_queue_id
     order by d.job_id desc limit p_limit);
end;
$$;
