-- millrace.resolve_specs: facts of checked specs: defaults of type and queue filled in, ids given, flags set. Plain jobs that may run at
-- once get their place in a lane: no keys, batch, limits or owner of their own, nothing to wait for, an id of ours (the partitions of
-- claims are dropped by time), and no limit of their type or queue that has to be looked at job by job.
create or replace function millrace.resolve_specs(p_specs millrace.job_spec[], p_tenant uuid) returns millrace.job_fact[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with s as materialized (
      select s.*, q.queue_id, t.type_id, coalesce(s.priority, t.priority_default, q.priority_default)::smallint as rank,
             case when s.dedupe_key is null then 0 when s.dedupe_keep is null then 1 else 128 end
               | case when s.serial_key is null then 0 else 2 end
               | case when s.concurrency_key is null then 0 else 4 end
               | case when s.batch_id is null then 0 else 8 end
               | case when s.start_deadline is null then 0 else 16 end
               | case when s.max_attempts is null and s.run_timeout is null then 0 else 32 end as flags,
             s.owner_id is null and s.after_jobs is null and (s.scheduled_at is null or s.scheduled_at <= n.now)
               and q.concurrency_max is null as simple, n.now
        from unnest(p_specs) s
        join millrace.job_type t on t.job_type = s.job_type
        join millrace.queue q on q.queue_id = coalesce((select o.queue_id from millrace.queue o where o.queue = s.queue), t.queue_id)
        cross join (select millrace.now() as now) n),
    lane as materialized (
      select g.queue_id, g.type_id, g.rank, millrace.lane_for(g.queue_id, g.type_id, p_tenant, g.rank) as lane_id
        from (select distinct s.queue_id, s.type_id, s.rank from s where s.simple and s.flags = 0 order by 1, 2, 3) g)
    select array_agg(row(
             coalesce(s.id, millrace.new_id()), n.seqs[s.ord], p_tenant, s.queue_id, s.type_id, s.rank, s.flags,
             s.payload, s.job_name, coalesce(s.job_category, 'standard'), s.owner_id, s.dedupe_key, s.serial_key,
             s.concurrency_key, s.correlation_id, s.traceparent, s.pipeline, s.stage, s.batch_id, s.parent_id,
             s.max_attempts, s.run_timeout, s.start_deadline,
             case when s.payload ? 'estimated_tokens'
                  then greatest(1, floor((s.payload ->> 'estimated_tokens')::numeric))::integer else 1000 end,
             coalesce(s.scheduled_at, s.now), s.now, n.actor, l.lane_id, case when l.lane_id is not null then pg_current_xact_id() end)::millrace.job_fact order by s.ord)
      from s
      left join lane l on s.simple and s.flags = 0 and l.queue_id = s.queue_id and l.type_id = s.type_id and l.rank = s.rank
      -- The sequence is drawn apart: the order given is the order in line, whatever the plan.
      cross join (select millrace.actor() as actor,
                         array(select nextval('millrace.job_seq') from generate_series(1, cardinality(p_specs))) as seqs) n);
end;
$$;
