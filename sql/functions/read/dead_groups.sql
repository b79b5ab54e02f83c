-- millrace.dead_groups: dead letters by fingerprint, with an example of each.
create or replace function millrace.dead_groups(p_queue text default null, p_limit integer default 100)
  returns table (queue text, fingerprint text, jobs bigint, reason text, message text, first_at timestamptz, last_at timestamptz, example uuid)
  language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
  select q.queue, h.fingerprint, count(*), min(h.reason), left(min(coalesce(h.error ->> 'message', h.error ->> 'error_type', h.reason)), 200),
         min(h.finished_at), max(h.finished_at), min(h.job_id::text)::uuid
    from millrace.job_history h join millrace.queue q on q.queue_id = h.queue_id
   where h.status = 'failed' and h.redriven_at is null and (p_queue is null or q.queue = p_queue)
     and (millrace.tenant_scope() is null or h.tenant_id = millrace.tenant_scope())
   group by q.queue, h.fingerprint order by count(*) desc limit p_limit
$$;
