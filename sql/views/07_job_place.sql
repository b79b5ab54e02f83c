-- millrace.job_place: every job once, with the place it lies in and what is counted of it there. For those who look at all jobs alike.
create or replace view millrace.job_place with (security_invoker = true) as
select r.job_id, r.tenant_id, r.queue_id, r.type_id, 'ready'::text as place, 'pending'::text as status, null::text as reason, r.generation, r.attempt,
       r.delivery_count, r.crash_count, r.suspect_count, r.snooze_count, null::uuid as token, null::text as worker_id, null::timestamptz as finished_at
  from millrace.ready r
union all
select d.job_id, d.tenant_id, d.queue_id, d.type_id, 'delayed', case d.reason when 'retrying' then 'retrying' when 'deferred' then 'deferred' else 'pending' end,
       d.reason::text, d.generation, d.attempt, d.delivery_count, d.crash_count, d.suspect_count, d.snooze_count, null, null, null
  from millrace.delayed d
union all
select l.job_id, l.tenant_id, l.queue_id, l.type_id, 'lease', 'processing', null, l.generation, l.attempt, l.delivery_count, l.crash_count, l.suspect_count,
       l.snooze_count, l.token, l.worker_id, null
  from millrace.lease l
union all
select h.job_id, h.tenant_id, h.queue_id, h.type_id, 'history', h.status::text, h.reason, h.generation, h.attempt, h.delivery_count, h.crash_count, null,
       h.snooze_count, h.token, h.worker_id, h.finished_at
  from millrace.job_history h where h.redriven_at is null
union all
select w.job_id, w.tenant_id, w.queue_id, w.type_id, 'ready', 'pending', null, 1::smallint, 0::smallint, 0, 0::smallint, 0::smallint, 0, null, null, null
  from millrace.lane_waiting w
union all
select h.job_id, h.tenant_id, h.queue_id, h.type_id, 'lease', 'processing', null, 1::smallint, 0::smallint, 1, 0::smallint, 0::smallint, 0,
       millrace.claim_token(h.claim_id, h.position), h.worker_id, null
  from millrace.lane_held h
union all
select d.job_id, d.tenant_id, d.queue_id, d.type_id, 'history', 'completed', null, 1::smallint, 1::smallint, 1, 0::smallint, null, 0,
       millrace.claim_token(d.claim_id, d.position), d.worker_id, d.finished_at
  from millrace.lane_done d;
