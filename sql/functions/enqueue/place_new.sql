-- millrace.place_new: puts new jobs that are not in a lane into ready or delayed, with their keys, dependencies and batch counts, and wakes a worker
-- that waits for one of their queues.
create or replace function millrace.place_new(
    p_specs millrace.job_spec[], p_facts millrace.job_fact[], p_tenant uuid, p_now timestamptz)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_keyed boolean := exists (select from unnest(p_facts) f where f.flags & 2 <> 0);
  v_after boolean := exists (select from unnest(p_specs) s where cardinality(s.after_jobs) > 0);
  v_batched boolean := exists (select from unnest(p_facts) f where f.flags & 8 <> 0);
  v_blocked uuid[] := '{}';
  v_waiting uuid[] := '{}';
  v_batch record;
begin
  if v_batched then
    for v_batch in select f.batch_id, count(*) as adding from unnest(p_facts) f where f.batch_id is not null
                    group by f.batch_id order by f.batch_id loop
      update millrace.batch b set total = b.total + v_batch.adding
       where b.batch_id = v_batch.batch_id and b.tenant_id = p_tenant and b.sealed_at is null;
      if not found then
        raise exception 'batch_id % is unknown or already sealed', v_batch.batch_id using errcode = 'MR018';
      end if;
    end loop;
  end if;
  if v_after then
    insert into millrace.dependency (job_id, depends_on, tenant_id, mode, on_failure)
    select distinct (p_facts[i]).job_id, a.job_id, p_tenant, coalesce((p_specs[i]).after_mode, 'all'),
           coalesce((p_specs[i]).after_failure, 'cancel')
      from generate_subscripts(p_facts, 1) i cross join lateral unnest((p_specs[i]).after_jobs) a(job_id);
    v_waiting := array(select (p_facts[i]).job_id from generate_subscripts(p_facts, 1) i
                        where cardinality((p_specs[i]).after_jobs) > 0);
    -- Judged after this commit: a prerequisite may finish at this very moment.
    insert into millrace.handoff (kind, tenant_id, job_id) select 'dependency', p_tenant, w from unnest(v_waiting) w;
  end if;
  if v_keyed then
    insert into millrace.serial_member (tenant_id, queue_id, serial_key, seq, job_id)
    select p_tenant, f.queue_id, f.serial_key, f.seq, f.job_id from unnest(p_facts) f where f.serial_key is not null;
    v_blocked := array(
      select f.job_id from unnest(p_facts) f
       where f.serial_key is not null
         and exists (select from millrace.serial_member m where m.tenant_id = p_tenant and m.queue_id = f.queue_id
                        and m.serial_key = f.serial_key and m.seq < f.seq));
    insert into millrace.handoff (kind, tenant_id, queue_id, wait_key)
    select distinct 'serial', p_tenant, f.queue_id, 's:' || f.serial_key
      from unnest(p_facts) f where f.job_id = any (v_blocked);
  end if;

  insert into millrace.delayed (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, reason, due_at, wait_key, wait_seq, start_deadline, delayed_at)
  select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.flags, 1, 0, 0, 0, 0, 0, greatest(f.created_at, f.scheduled_at),
         case when w.dependent then 'dependency' when f.scheduled_at > p_now then 'scheduled' else 'serial' end::millrace.wait_reason,
         case when w.dependent then 'infinity' when f.scheduled_at > p_now then f.scheduled_at else 'infinity' end,
         case when not w.dependent and f.scheduled_at <= p_now then 's:' || f.serial_key end,
         case when not w.dependent and f.scheduled_at <= p_now then f.seq end, f.start_deadline, p_now
    from unnest(p_facts) f
    cross join lateral (select f.job_id = any (v_waiting) as dependent, f.job_id = any (v_blocked) as blocked) w
   where f.lane_id is null and (w.dependent or w.blocked or f.scheduled_at > p_now);

  insert into millrace.ready (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count,
      crash_count, suspect_count, snooze_count, born_at, ready_at, start_deadline)
  select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.flags, 1, 0, 0, 0, 0, 0, f.created_at, p_now, f.start_deadline
    from unnest(p_facts) f
   where f.lane_id is null and f.scheduled_at <= p_now and not f.job_id = any (v_waiting) and not f.job_id = any (v_blocked)
   order by f.seq;

  insert into millrace.counter_delta (queue_id, tenant_id, enqueued, ready, delayed)
  select f.queue_id, p_tenant, count(*), count(*) filter (where w.now), count(*) filter (where not w.now)
    from unnest(p_facts) f
    cross join lateral (select f.scheduled_at <= p_now and not f.job_id = any (v_waiting) and not f.job_id = any (v_blocked) as now) w
   group by f.queue_id;
  perform millrace.wake_queues(array(select distinct f.queue_id from unnest(p_facts) f));
end;
$$;
