-- millrace.settle_core: everything after the fence. The rows have just been deleted from lease (or from ready or delayed, for
-- cancellation and expiry, with p_from saying so) in this transaction; here they reach their next place together with history,
-- attempts, keys, capacity, evidence and what they owe other jobs.
create or replace function millrace.settle_core(p_rows millrace.moving[], p_worker_id text, p_from text default 'leased')
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_rows millrace.moving[];
  v_class record;
  v_wake smallint[];
begin
  if coalesce(cardinality(p_rows), 0) = 0 then
    return;
  end if;
  v_rows := millrace.resolve_moves(p_rows, v_now);
  insert into millrace.job_history (job_id, generation, tenant_id, queue_id, type_id, status, reason, finished_at, started_at, worker_id,
      token, attempt, delivery_count, crash_count, snooze_count, progress, progress_data, result, error, fingerprint)
  select r.job_id, r.generation, r.tenant_id, r.queue_id, r.type_id, r.final_status, r.final_reason, v_now, r.started_at, r.worker_id,
         r.token, r.attempt + case when r.outcome = 'ok' then 1 else 0 end, r.delivery_count, r.crash_count, r.snooze_count,
         case when r.final_status = 'completed' then 100 else coalesce(r.progress, 0) end, r.progress_data, r.result, r.error,
         case when r.final_status = 'failed'
              then millrace.fingerprint(coalesce(r.error, '{}') || jsonb_build_object('dead_letter_reason', r.final_reason)) end
    from unnest(v_rows) r where r.final_status is not null;
  insert into millrace.delayed (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count, crash_count,
      suspect_count, snooze_count, born_at, reason, due_at, delayed_at)
  select r.job_id, r.tenant_id, r.queue_id, r.type_id, r.priority, r.flags & 127, r.generation, r.attempt, r.delivery_count, r.crash_count,
         r.suspect_count, r.snooze_count, r.born_at, r.wait_reason, r.due_at, v_now
    from unnest(v_rows) r where r.final_status is null and r.wait_reason is not null;
  insert into millrace.ready (ready_seq, job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, ready_at, start_deadline)
  select r.ready_seq, r.job_id, r.tenant_id, r.queue_id, r.type_id, r.priority, r.flags & 127, r.generation, r.attempt, r.delivery_count,
         -- It keeps its age, and with it its turn beside the lane it came from.
         r.crash_count, r.suspect_count, r.snooze_count, r.born_at, r.born_at,
         -- Handed back is not started: the deadline holds again.
         case when r.flags & 16 <> 0 then (select f.start_deadline from millrace.job_fact f where f.job_id = r.job_id) end
    from unnest(v_rows) r where r.final_status is null and r.wait_reason is null;
  insert into millrace.attempt (job_id, generation, tenant_id, delivery_count, outcome, charged, token, worker_id, started_at, ended_at,
      due_at, error, carry)
  select r.job_id, r.generation, r.tenant_id, r.delivery_count, r.outcome, coalesce(r.charged, false), r.token, r.worker_id, r.started_at,
         v_now, r.due_at,
         case when r.final_status = 'failed' then coalesce(r.error, '{}') || jsonb_build_object('dead_letter_reason', r.final_reason,
                'final_worker', r.worker_id, 'dead_lettered_at', v_now) else r.error end, r.carry
    from unnest(v_rows) r
   where r.outcome not in ('ok', 'handback') and (p_from = 'leased' or r.final_status = 'failed');

  for v_class in
    select r.final_status, r.wait_reason, c.action,
           case when r.final_status is not null then null when r.wait_reason is not null then 'delayed' else 'ready' end as place,
           c.reason, array_agg(r) as rows
      from unnest(v_rows) r
      cross join lateral (select
        case when r.final_status is not null then r.final_status::text
             when r.outcome = 'handback' then 'handed_back'
             when r.outcome in ('throttled', 'blocked', 'rescheduled') then 'rescheduled'
             when r.outcome = 'lost' then 'reclaimed' else 'retried' end as action,
        case r.final_status when 'completed' then 'Job completed successfully'
             when 'failed' then 'Job dead-lettered: ' || r.final_reason
             when 'cancelled' then 'Job cancelled: ' || r.final_reason
             else case r.outcome when 'handback' then 'Job handed back' when 'lost' then 'Lease lost, job reclaimed'
                  when 'throttled' then 'Job rescheduled' when 'rescheduled' then 'Job rescheduled' when 'blocked' then 'Job parked' else 'Attempt failed, job will be retried' end
        end as reason) c
     group by 1, 2, 3, 4, 5
  loop
    perform millrace.record_moves(v_class.action, v_class.rows, p_worker_id, v_class.reason, p_from, v_class.place, v_class.final_status::text);
  end loop;
  perform millrace.release_claims(v_rows, p_from);
  -- What went back to ready may be claimed now; and what ended has made room in its queue, where only so many may run: whoever found
  -- it full waits for nothing else, and would look again only after its polling time.
  v_wake := array(
    select w.queue_id from millrace.wake w
     where w.armed and (
       exists (select from unnest(v_rows) r where r.queue_id = w.queue_id and r.final_status is null and r.wait_reason is null)
       or (p_from = 'leased'
           and exists (select from unnest(v_rows) r join millrace.queue q on q.queue_id = r.queue_id join millrace.job_type t on t.type_id = r.type_id
                        where r.queue_id = w.queue_id and q.paused_at is null
                          and (q.concurrency_max is not null or q.key_concurrency_max is not null or t.provider_name is not null))
           and exists (select from millrace.ready r where r.queue_id = w.queue_id))));
  if cardinality(v_wake) > 0 then
    perform millrace.wake_queues(v_wake);
  end if;
end;
$$;
