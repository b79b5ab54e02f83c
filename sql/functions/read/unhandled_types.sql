-- millrace.unhandled_types: types with ready jobs that no live worker has a handler for.
create or replace function millrace.unhandled_types() returns table (queue text, job_type text, oldest_ready_at timestamptz)
  language sql volatile security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
  select q.queue, t.job_type, min(g.ready_at)
    from (select c.queue_id, c.type_id, c.ready_at from millrace.claim_groups(null, null, millrace.tenant_scope()) c
          union all select l.queue_id, l.type_id, l.ready_at from millrace.lane_groups(null, null, millrace.tenant_scope(), null) l) g
    join millrace.queue q on q.queue_id = g.queue_id join millrace.job_type t on t.type_id = g.type_id
   where not exists (select from millrace.worker w where w.lease_until > millrace.now() and q.queue = any (w.queues) and t.job_type = any (w.job_types))
   group by q.queue, t.job_type
$$;
