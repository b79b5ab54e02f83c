-- The judge: what a case came to, and whether anything is wrong with it. Test databases only.

-- Seconds from now, for people: +30s, never.
create function millrace_test.ahead(p_at timestamptz) returns text
  language sql as $$
  select case when p_at = 'infinity' then 'never' else to_char(extract(epoch from p_at - millrace.now()), 'FMS9999990') || 's' end
$$;

create function millrace_test.marks(p_generation integer, p_attempt integer, p_deliveries integer, p_suspect integer, p_crash integer, p_snoozes integer)
  returns text language sql as $$
  select concat(' a', p_attempt, ' d', p_deliveries, case when p_generation > 1 then ' g' || p_generation end, case when p_suspect > 0 then ' suspect' || p_suspect end,
                case when p_crash > 0 then ' crash' || p_crash end, case when p_snoozes > 0 then ' snooze' || p_snoozes end)
$$;

-- Everything a case can change, in one line without ids and absolute times.
create function millrace_test.state() returns text
  language plpgsql as $$
begin
  return (
    with job as (
      select r.job_id, 'ready' || millrace_test.marks(r.generation, r.attempt, r.delivery_count, r.suspect_count, r.crash_count, r.snooze_count) as line
        from millrace.ready r
      union all
      select d.job_id, d.reason || ' ' || millrace_test.ahead(d.due_at)
               || millrace_test.marks(d.generation, d.attempt, d.delivery_count, d.suspect_count, d.crash_count, d.snooze_count)
        from millrace.delayed d
      union all
      select l.job_id, 'leased ' || millrace_test.ahead(l.lease_until) || case when l.cancel_requested_at is not null then ' cancelling' else '' end
               || millrace_test.marks(l.generation, l.attempt, l.delivery_count, l.suspect_count, l.crash_count, l.snooze_count)
        from millrace.lease l
      union all
      select w.job_id, 'lane' from millrace.lane_waiting w
      union all
      select c.job_id, 'claimed ' || millrace_test.ahead(c.lease_until) from millrace.lane_held c
      union all
      select c.job_id, 'completed a1 d1' from millrace.lane_done c
      union all
      select h.job_id, h.status || coalesce('(' || h.reason || ')', '')
               || millrace_test.marks(h.generation, h.attempt, h.delivery_count, 0, h.crash_count, h.snooze_count)
        from millrace.job_history h where h.redriven_at is null)
    select concat_ws(', ',
      (select string_agg(f.job_name || ' ' || coalesce(j.line, 'nowhere'), ', ' order by f.job_name, f.seq)
         from millrace.job_fact f left join job j on j.job_id = f.job_id),
      coalesce((select 'w ' || millrace_test.ahead(w.lease_until) from millrace.worker w where w.worker_id = 'w'), 'w gone'),
      (select string_agg(format('provider %s active %s granted %s failures', p.active_requests, p.current_requests_minute, p.breaker_failures), ', ' order by p.provider_id)
         from millrace.api_rate_limits p where p.provider_name = 'p'),
      (select format('batch %s+%s+%s/%s', b.completed, b.failed, b.cancelled, b.total) from millrace.batch b),
      'key ' || coalesce((select string_agg(millrace_test.name(k.job_id), ' ' order by k.type_id) from millrace.dedupe_key k), 'free')));
end $$;

-- What breaks a rule that holds always; null when nothing does. The notes must have been paid.
create function millrace_test.wrong() returns text
  language plpgsql as $$
begin
  return (
    with place as (
      select p.job_id, p.queue_id, p.tenant_id, case p.place when 'lease' then 'leased' when 'history' then p.status else p.place end as place, p.generation,
             p.attempt, p.delivery_count, p.token from millrace.job_place p),
    history as (
      select h.job_id, h.status::text as status, h.token, h.delivery_count, h.redriven_at from millrace.job_history h
      union all
      select d.job_id, 'completed', millrace.claim_token(d.claim_id, d.position), 1, null from millrace.lane_done d),
    acted as (
      select u.job_id, a.action, count(*) as times from millrace.audit a cross join lateral (
               select i as job_id from unnest(a.job_ids) i
               union all
               select v.job_id from millrace.claim c cross join lateral unnest(c.job_ids) with ordinality v(job_id, n)
                where a.table_name = 'claim' and c.claim_id::text = a.record_id
                  and (a.action = 'claimed' or get_bit((a.new_values ->> 'done')::bit varying, (v.n - 1)::integer) = 1)) u group by 1, 2),
    told as (
      select u.job_id, substr(e.kind, 5) as action, count(*) as times from millrace.event e cross join lateral (
               select i as job_id from unnest(e.job_ids) i
               union all
               select v.job_id from millrace.claim c cross join lateral unnest(c.job_ids) with ordinality v(job_id, n)
                where c.claim_id::text = e.data ->> 'claim'
                  and (e.kind = 'job.claimed' or get_bit((e.data ->> 'done')::bit varying, (v.n - 1)::integer) = 1)) u
       where e.kind like 'job.%' group by 1, 2),
    tally as (
      select f.job_id, f.job_name, f.seq, f.flags, f.serial_key, f.queue_id, f.tenant_id,
             (select count(*) from place p where p.job_id = f.job_id) as places,
             (select p.place from place p where p.job_id = f.job_id limit 1) as place,
             exists (select from place p where p.job_id = f.job_id and p.place in ('ready', 'delayed', 'leased')) as live,
             coalesce((select jsonb_object_agg(a.action, a.times) from acted a where a.job_id = f.job_id), '{}') as acted,
             coalesce((select jsonb_object_agg(t.action, t.times) from told t where t.job_id = f.job_id), '{}') as told,
             (select count(*) from history h where h.job_id = f.job_id and h.token is not null) as ended_leased,
             (select coalesce(sum(h.delivery_count), 0) from history h where h.job_id = f.job_id)
               + (select coalesce(sum(p.delivery_count), 0) from place p where p.job_id = f.job_id and p.place in ('ready', 'delayed', 'leased')) as deliveries
        from millrace.job_fact f),
    many as (
      select t.*, coalesce((t.acted ->> 'claimed')::integer, 0) as claimed,
             (select coalesce(sum((t.acted ->> x)::integer), 0) from unnest(array['retried', 'rescheduled', 'reclaimed', 'handed_back']) x) as returned
        from tally t)
    select string_agg(w.what, '; ') from (
      select format('%s lies in %s places', m.job_name, m.places) as what from many m where m.places <> 1
      union all
      select format('%s: audit says %s, events say %s', m.job_name, m.acted, m.told) from many m where m.acted <> m.told
      union all
      select format('%s: %s claims in the audit, %s deliveries', m.job_name, m.claimed, m.deliveries) from many m where m.claimed <> m.deliveries
      union all
      select format('%s: %s claims, but %s returns and %s ends', m.job_name, m.claimed, m.returned, m.ended_leased) from many m
       where m.claimed <> m.returned + m.ended_leased + (m.place = 'leased')::integer
      union all
      select format('%s: audit has %s, history %s', m.job_name, m.acted, h.ends)
        from many m cross join lateral (
          select coalesce(jsonb_object_agg(x.what, x.times), '{}') as ends from (
            select h.status as what, count(*) as times from history h where h.job_id = m.job_id group by 1
            union all
            select 'redriven', count(*) from millrace.job_history h where h.job_id = m.job_id and h.redriven_at is not null having count(*) > 0) x) h
       where h.ends <> coalesce((select jsonb_object_agg(a.key, a.value) from jsonb_each(m.acted) a
                                  where a.key in ('completed', 'failed', 'cancelled', 'redriven')), '{}')
      union all
      select format('%s: one delivery has two endings', millrace_test.name(a.job_id)) from millrace.attempt a where a.token is not null
       group by a.job_id, a.token having count(*) > 1
      union all
      select format('%s: attempt %s, charged %s', millrace_test.name(g.job_id), g.attempt, g.charged) from (
        select p.job_id, p.attempt - (p.place = 'completed' or (p.place = 'cancelled' and p.token is not null))::integer as attempt,
               (select count(*) from millrace.attempt a where a.job_id = p.job_id and a.generation = p.generation and a.charged) as charged
          from place p) g where g.attempt <> g.charged
      union all
      select format('counters of queue %s say %s, the tables %s', coalesce(r.queue, c.queue), c, r)
        from (select q.queue, p.tenant_id, count(*) filter (where p.place = 'ready') as ready, count(*) filter (where p.place = 'delayed') as delayed,
                     count(*) filter (where p.place = 'leased') as leased, count(*) filter (where p.place = 'completed') as completed,
                     count(*) filter (where p.place = 'failed') as failed, count(*) filter (where p.place = 'cancelled') as cancelled, count(*) as enqueued
                from place p join millrace.queue q on q.queue_id = p.queue_id group by 1, 2) r
        full join (select q.queue, k.tenant_id, sum(k.ready) as ready, sum(k.delayed) as delayed, sum(k.leased) as leased, sum(k.completed) as completed,
                          sum(k.failed) as failed, sum(k.cancelled) as cancelled, sum(k.enqueued) as enqueued
                     from (select d.queue_id, d.tenant_id, d.ready, d.delayed, d.leased, d.completed, d.failed, d.cancelled, d.enqueued
                             from millrace.counter_delta d
                           union all
                           select n.queue_id, n.tenant_id, n.ready, n.delayed, n.leased, n.completed, n.failed, n.cancelled, n.enqueued
                             from millrace.counter n) k
                     join millrace.queue q on q.queue_id = k.queue_id group by 1, 2) c on c.queue = r.queue and c.tenant_id = r.tenant_id
       where (c.ready, c.delayed, c.leased, c.completed, c.failed, c.cancelled, c.enqueued)
             is distinct from (r.ready, r.delayed, r.leased, r.completed, r.failed, r.cancelled, r.enqueued)
      union all
      select format('%s is %s, but its dedupe key is %s', m.job_name, m.place, case when k.job_id is null then 'free' else 'held' end)
        from many m left join millrace.dedupe_key k on k.job_id = m.job_id where m.flags & 1 <> 0 and m.live <> (k.job_id is not null)
      union all
      select format('%s is %s, but its place in the serial key is %s', m.job_name, m.place, case when k.job_id is null then 'free' else 'held' end)
        from many m left join millrace.serial_member k on k.job_id = m.job_id where m.serial_key is not null and m.live <> (k.job_id is not null)
      union all
      select format('%s runs before %s of the same serial key', m.job_name, e.job_name) from many m join many e
          on e.serial_key = m.serial_key and e.queue_id = m.queue_id and e.tenant_id = m.tenant_id and e.seq < m.seq
       -- A redriven job comes back when others of its key may run already: they only must not run together.
       where m.place = 'leased' and e.live and (e.place = 'leased' or not exists (select from history h where h.job_id = e.job_id))
      union all
      select format('%s jobs of one concurrency key run', count(*)) from millrace.lease l join millrace.queue q on q.queue_id = l.queue_id
       where l.lease_key like 'c:%' group by l.queue_id, l.tenant_id, l.lease_key, q.key_concurrency_max having count(*) > q.key_concurrency_max
      union all
      select format('%s waits for a concurrency key that has room', millrace_test.name(d.job_id)) from millrace.delayed d
       where d.reason = 'concurrency' and not exists (select from millrace.lease l where l.lease_key = d.wait_key)
      union all
      select format('%s waits for a serial key that nobody holds', m.job_name) from many m join millrace.delayed d on d.job_id = m.job_id
       where d.reason = 'serial' and not exists (select from many e where e.serial_key = m.serial_key and e.seq < m.seq and e.live)
      union all
      select format('%s waits for %s, which is %s', m.job_name, e.job_name, e.place) from millrace.dependency y join many m on m.job_id = y.job_id
        join many e on e.job_id = y.depends_on where not e.live
      union all
      select format('%s: %s provider slots, %s leases', m.job_name, s.slots, (m.place = 'leased')::integer)
        from many m join millrace.job_fact f on f.job_id = m.job_id join millrace.job_type t on t.type_id = f.type_id and t.provider_name is not null
        cross join lateral (select (select count(*) from millrace.provider_slot s where s.job_id = m.job_id
                                       and (m.place <> 'leased' or s.token = (select l.token from millrace.lease l where l.job_id = m.job_id)))
                                   + (select count(*) from millrace.provider_slot s join millrace.lane_held h on h.claim_id = s.claim_id
                                       where h.job_id = m.job_id) as slots) s
       where s.slots <> (m.place = 'leased')::integer
      union all
      select format('the slot of a claim stands for %s jobs, %s are held', s.jobs, bit_count(o.held))
        from millrace.provider_slot s left join millrace.claim_open o on o.claim_id = s.claim_id
       where s.claim_id is not null and s.jobs is distinct from bit_count(o.held)
      union all
      select format('%s holds %s slots of its queue', m.job_name, s.slots)
        from many m join millrace.lease l on l.job_id = m.job_id join millrace.queue q on q.queue_id = l.queue_id and q.concurrency_max is not null
        cross join lateral (select count(*) as slots from millrace.queue_slot s where s.job_id = l.job_id and s.token = l.token) s
       where s.slots <> 1
      union all
      select format('queue %s runs %s jobs, its limit is %s', q.queue, count(*), q.concurrency_max) from millrace.lease l
        join millrace.queue q on q.queue_id = l.queue_id group by q.queue, q.concurrency_max having count(*) > q.concurrency_max
      union all
      select format('the batch counts %s, its members ended %s times', b.completed + b.failed + b.cancelled, h.ends) from millrace.batch b
        cross join lateral (select count(*) as ends from millrace.job_history h join millrace.job_fact f on f.job_id = h.job_id
                             where f.batch_id = b.batch_id and h.generation = 1) h
       where b.completed + b.failed + b.cancelled <> h.ends
      union all
      select format('%s follow-up jobs of %s completions', e.jobs, h.ends)
        from (select count(*) as jobs from millrace.job_fact f where f.job_name = 'E') e,
             (select count(*) as ends from millrace.job_history h where h.result ? 'follow_up') h
       where e.jobs <> h.ends
      union all
      select format('%s notes are not paid', count(*)) from millrace.handoff having count(*) > 0) w);
end $$;

-- Both, after the notes were paid.
create function millrace_test.judge(out state text, out wrong text) returns record
  language plpgsql as $$
declare
  v_netted boolean := millrace_test.settle_down();
begin
  state := millrace_test.state() || case when v_netted then ', by the safety net' else '' end;
  wrong := coalesce(millrace_test.wrong(), '');
end $$;

-- Pays the notes, as the keeper does every moment. A note can lose a race against a commit it could not see; the safety net that
-- writes it again runs where a note alone did not help.
create function millrace_test.settle_down() returns boolean
  language plpgsql as $$
declare
  v_netted boolean := false;
begin
  for v_round in 1 .. 5 loop
    exit when millrace.advance(100) = 0;
  end loop;
  if millrace.recheck_blocked(100) > 0 then
    v_netted := true;
    for v_round in 1 .. 5 loop
      exit when millrace.advance(100) = 0;
    end loop;
  end if;
  return v_netted;
end $$;

-- Runs a world to its end by ordinary means, hours later: every job must reach a final state and give up all it held.
create function millrace_test.drain() returns text
  language plpgsql as $$
declare
  v_process uuid;
  v_job record;
  v_wrong text;
begin
  update millrace.test_clock set shift = shift + interval '2 hours';
  v_process := millrace.register_worker('drain', '{"lease_ms": 86400000}');
  for v_round in 1 .. 12 loop
    perform millrace.reclaim(100), millrace.promote_due(100), millrace.advance(100), millrace.recheck_blocked(100), millrace.advance(100);
    for v_job in select c.job_id, c.token from unnest(array['q', 'o', 'l', 'm']) q cross join lateral millrace.claim_jobs('drain', v_process, q, 10) c loop
      perform millrace.complete_jobs('drain', array[v_job.job_id], array[v_job.token]);
    end loop;
    exit when not exists (select from millrace.job_place p where p.place <> 'history');
  end loop;
  perform millrace_test.settle_down();
  v_wrong := millrace_test.wrong();
  return concat_ws('; ', v_wrong,
    (select 'left over: ' || string_agg(x.what, ', ') from (
       select millrace_test.name(p.job_id) || ' ' || p.place as what from millrace.job_place p where p.place <> 'history'
       union all select 'a dedupe key' from millrace.dedupe_key
       union all select 'a place in a serial key' from millrace.serial_member
       union all select 'a dependency' from millrace.dependency
       union all select 'a provider slot' from millrace.provider_slot) x));
end $$;
