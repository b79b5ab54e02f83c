-- millrace.queue_counts: counts per queue and tenant, from the counters and the deltas not folded yet; never from the jobs themselves.
create or replace function millrace.queue_counts()
  returns table (queue text, tenant_id uuid, enqueued bigint, completed bigint, failed bigint, cancelled bigint, redriven bigint, ready bigint,
                 delayed bigint, leased bigint, live bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
  select q.queue, s.tenant_id, s.enqueued, s.completed, s.failed, s.cancelled, s.redriven, s.ready, s.delayed, s.leased, s.ready + s.delayed + s.leased
    from (select c.queue_id, c.tenant_id, sum(c.enqueued)::bigint as enqueued, sum(c.completed)::bigint as completed, sum(c.failed)::bigint as failed,
                 sum(c.cancelled)::bigint as cancelled, sum(c.redriven)::bigint as redriven, sum(c.ready)::bigint as ready,
                 sum(c.delayed)::bigint as delayed, sum(c.leased)::bigint as leased
            from (select k.queue_id, k.tenant_id, k.enqueued, k.completed, k.failed, k.cancelled, k.redriven, k.ready, k.delayed, k.leased from millrace.counter k
                  union all
                  select d.queue_id, d.tenant_id, d.enqueued, d.completed, d.failed, d.cancelled, d.redriven, d.ready, d.delayed, d.leased
                    from millrace.counter_delta d) c
           where millrace.tenant_scope() is null or c.tenant_id = millrace.tenant_scope()
           group by c.queue_id, c.tenant_id) s
    join millrace.queue q on q.queue_id = s.queue_id
$$;
