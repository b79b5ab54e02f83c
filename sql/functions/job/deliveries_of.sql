-- millrace.deliveries_of: leases with what a handler needs, in the order given.
create or replace function millrace.deliveries_of(p_leases millrace.lease[]) returns setof millrace.delivery
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select l.job_id, l.token, l.tenant_id, t.job_type, f.payload, l.priority::integer, l.attempt + 1,
         coalesce(f.max_attempts, t.max_attempts, q.max_attempts)::integer, l.delivery_count, l.generation::integer,
         (extract(epoch from coalesce(f.run_timeout, t.run_timeout, q.run_timeout)) * 1000)::bigint,
         (extract(epoch from l.lease_until - l.leased_at) * 1000)::bigint, f.job_name, f.owner_id, f.correlation_id, f.traceparent,
         f.pipeline, f.stage, f.batch_id, f.parent_id, f.serial_key,
         case when l.flags & 64 <> 0 then (select a.carry from millrace.attempt a where a.job_id = l.job_id and a.carry is not null
                                            order by a.attempt_seq desc limit 1) end,
         l.alone, l.type_id || ':' || l.tenant_id || ':' || l.priority || ':' || l.ready_seq, null::text
    from unnest(p_leases) with ordinality l
    join millrace.job_fact f on f.job_id = l.job_id
    join millrace.job_type t on t.type_id = l.type_id
    join millrace.queue q on q.queue_id = l.queue_id
   order by l.ordinality;
end;
$$;
