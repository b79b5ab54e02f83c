-- millrace.job_summaries: what a list shows of these jobs, in the order given, each from the one place it lies in. Every look is by a key,
-- so the cost is the number of jobs asked for, whatever else there is. Payloads and results are not shown: they can be large.
create or replace function millrace.job_summaries(p_job_ids uuid[]) returns table (job_id uuid, status text, summary jsonb)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select f.job_id, s.status,
         jsonb_build_object('job_id', f.job_id, 'tenant_id', f.tenant_id, 'queue', q.queue, 'job_type', t.job_type, 'job_name', f.job_name, 'status', s.status,
           'stage', f.stage, 'priority', f.priority, 'scheduled_at', s.scheduled_at, 'created_at', f.created_at,
           'started_at', s.started_at, 'finished_at', s.finished_at, 'attempt', s.tries, 'max_attempts', coalesce(f.max_attempts, t.max_attempts, q.max_attempts),
           'delivery_count', s.deliveries, 'worker_id', s.worker_id, 'progress', s.progress, 'progress_message', s.progress_message,
           'error', coalesce(s.error, case when s.status not in ('completed', 'cancelled') and s.deliveries > 0 then
                      (select a.error from millrace.attempt a where a.job_id = f.job_id and a.error is not null order by a.attempt_seq desc limit 1) end),
           'reason', s.reason, 'correlation_id', f.correlation_id, 'batch_id', f.batch_id, 'generation', s.generation,
           'owner_id', f.owner_id, 'parent_id', f.parent_id, 'cancel_requested_at', s.cancel_requested_at)
    from unnest(p_job_ids) with ordinality u(job_id, n)
    join millrace.job_fact f on f.job_id = u.job_id
    join millrace.queue q on q.queue_id = f.queue_id
    join millrace.job_type t on t.type_id = f.type_id
    cross join lateral (
      select 'pending' as status, r.generation, r.attempt::integer as tries, r.delivery_count as deliveries,
             case when r.delivery_count = 0 then f.scheduled_at else r.ready_at end as scheduled_at, null::timestamptz as started_at, null::timestamptz as finished_at,
             null::text as worker_id, 0 as progress, null::text as progress_message, null::jsonb as error, null::text as reason,
             null::timestamptz as cancel_requested_at
        from millrace.ready r where r.job_id = f.job_id
      union all
      select case d.reason when 'retrying' then 'retrying' when 'deferred' then 'deferred' else 'pending' end, d.generation, d.attempt, d.delivery_count,
             nullif(d.due_at, 'infinity'), null, null, null, 0, null, null, d.reason::text, null
        from millrace.delayed d where d.job_id = f.job_id
      union all
      select 'processing', l.generation, l.attempt + 1, l.delivery_count, f.scheduled_at, l.leased_at, null, l.worker_id, l.progress, l.progress_message, null,
             case when l.cancel_requested_at is not null then coalesce(l.cancel_reason, 'cancelled') end, l.cancel_requested_at
        from millrace.lease l where l.job_id = f.job_id
      union all
      select h.status::text, h.generation, h.attempt, h.delivery_count, f.scheduled_at, h.started_at, h.finished_at, h.worker_id, h.progress, null, h.error, h.reason, null
        from millrace.job_history h where h.job_id = f.job_id and h.redriven_at is null
      union all
      select case n.state when 'ready' then 'pending' when 'leased' then 'processing' else 'completed' end, 1, case when n.state = 'ready' then 0 else 1 end,
             case when n.state = 'ready' then 0 else 1 end, f.scheduled_at, n.started_at, n.finished_at, n.worker_id, case when n.state = 'completed' then 100 else 0 end,
             null, null, null, null
        from millrace.lane_state(f.job_id) n where f.lane_id is not null) s
   order by u.n;
end;
$$;
