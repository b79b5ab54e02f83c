-- millrace.queue_load: for scalers and people: per queue what waits ready, waits otherwise and runs (of all tenants, from counters), how long the oldest
-- ready job has waited, and in how many seconds it would all be done at the rate of the last half minute (null: not known). p_queue null: all.
-- Cost: the number of tenants and lanes, never of jobs.
create or replace function millrace.queue_load(p_queue text default null)
  returns table (queue text, ready bigint, "delayed" bigint, leased bigint, demand bigint, oldest_age_s double precision, per_second double precision,
                 drain_s double precision, paused boolean)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_scope uuid := millrace.tenant_scope();
  v_ids smallint[] := case when p_queue is not null then array(select q.queue_id from millrace.queue q where q.queue = p_queue) end;
begin
  return query
  with counted as materialized (
    select c.queue_id, sum(c.ready)::bigint as ready, sum(c.waiting)::bigint as waiting, sum(c.leased)::bigint as leased from (
      select k.queue_id, k.tenant_id, k.ready, k.delayed as waiting, k.leased from millrace.counter k
      union all
      select d.queue_id, d.tenant_id, d.ready, d.delayed, d.leased from millrace.counter_delta d) c
     where (v_ids is null or c.queue_id = any (v_ids)) and (v_scope is null or c.tenant_id = v_scope) group by c.queue_id),
  head as materialized (
    select g.queue_id, min(g.ready_at) as ready_at from (
      select c.queue_id, c.ready_at from millrace.claim_groups(v_ids, null, v_scope) c
      union all
      select l.queue_id, l.ready_at from millrace.lane_groups(v_ids, null, v_scope, null) l) g group by g.queue_id)
  select q.queue, greatest(coalesce(c.ready, 0), 0), greatest(coalesce(c.waiting, 0), 0), greatest(coalesce(c.leased, 0), 0), n.demand,
         greatest(coalesce(extract(epoch from v_now - h.ready_at), 0), 0)::double precision, coalesce(e.per_second, 0),
         case when n.demand = 0 then 0 when e.per_second > 0 then n.demand / e.per_second end, q.paused_at is not null
    from millrace.queue q
    left join counted c on c.queue_id = q.queue_id
    left join head h on h.queue_id = q.queue_id
    -- A rate that nobody has sampled for a minute says nothing of now.
    left join millrace.queue_rate e on e.queue_id = q.queue_id and e.sampled_at > v_now - interval '1 minute'
    cross join lateral (select greatest(coalesce(c.ready, 0) + coalesce(c.leased, 0), 0) as demand) n
   where v_ids is null or q.queue_id = any (v_ids)
   order by q.queue;
end;
$$;
