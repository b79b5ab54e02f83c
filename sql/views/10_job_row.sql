-- millrace.job_row: every job once, from the one place it lies in, with its fact: the common ground of the views with
-- the sources' names. Each branch joins its own place, so that a condition on id, owner or status reaches the index
-- of each, and a status that a branch cannot have removes the branch. A finished job shows its newest
-- generation: a redriven one is live again, or finished again. The last three branches are the jobs that only their lane knows.
create or replace view millrace.job_row with (security_invoker = true) as
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'pending'::text as status, f.priority, r.generation,
       r.attempt, r.attempt as tries, r.delivery_count,
       case when r.delivery_count = 0 then f.scheduled_at else r.ready_at end as scheduled_at, null::timestamptz as due_at,
       null::timestamptz as started_at, null::timestamptz as finished_at, r.ready_at as changed_at,
       null::text as worker_id, null::timestamptz as renewed_at, null::timestamptz as lease_until,
       0::smallint as progress, null::text as progress_message, null::jsonb as progress_data,
       null::jsonb as result, null::jsonb as error, null::text as reason,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.ready r join millrace.job_fact f on f.job_id = r.job_id
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id,
       case d.reason when 'retrying' then 'retrying' when 'deferred' then 'deferred' else 'pending' end, f.priority, d.generation,
       d.attempt, d.attempt, d.delivery_count,
       nullif(d.due_at, 'infinity'), nullif(d.due_at, 'infinity'), null, null, d.delayed_at,
       null, null, null, 0::smallint, null, null, null, null, d.reason::text,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.delayed d join millrace.job_fact f on f.job_id = d.job_id
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'processing', f.priority, l.generation,
       l.attempt, (l.attempt + 1)::smallint, l.delivery_count,
       f.scheduled_at, null, l.leased_at, null, l.renewed_at,
       l.worker_id, l.renewed_at, l.lease_until, l.progress, l.progress_message, l.progress_data, null, null,
       case when l.cancel_requested_at is not null then coalesce(l.cancel_reason, 'cancelled') end,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.lease l join millrace.job_fact f on f.job_id = l.job_id
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'completed', f.priority, h.generation,
       case when h.started_at is null then h.attempt else greatest(h.attempt - 1, 0)::smallint end, h.attempt, h.delivery_count,
       f.scheduled_at, null, h.started_at, h.finished_at, h.finished_at,
       h.worker_id, null, null, h.progress, null, h.progress_data, h.result, h.error, h.reason,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.job_history h join millrace.job_fact f on f.job_id = h.job_id
 where h.status = 'completed' and h.redriven_at is null
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'failed', f.priority, h.generation,
       case when h.started_at is null then h.attempt else greatest(h.attempt - 1, 0)::smallint end, h.attempt, h.delivery_count,
       f.scheduled_at, null, h.started_at, h.finished_at, h.finished_at,
       h.worker_id, null, null, h.progress, null, h.progress_data, h.result, h.error, h.reason,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.job_history h join millrace.job_fact f on f.job_id = h.job_id
 where h.status = 'failed' and h.redriven_at is null
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'cancelled', f.priority, h.generation,
       case when h.started_at is null then h.attempt else greatest(h.attempt - 1, 0)::smallint end, h.attempt, h.delivery_count,
       f.scheduled_at, null, h.started_at, h.finished_at, h.finished_at,
       h.worker_id, null, null, h.progress, null, h.progress_data, h.result, h.error, h.reason,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.job_history h join millrace.job_fact f on f.job_id = h.job_id
 where h.status = 'cancelled' and h.redriven_at is null
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'pending', f.priority, 1::smallint, 0::smallint, 0::smallint, 0, f.scheduled_at, null, null, null, f.created_at,
       null, null, null, 0::smallint, null, null, null, null, null,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.job_fact f join millrace.lane_head h on h.lane_id = f.lane_id
 where ((f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq)
        or exists (select from unnest(h.late_xids, h.late_seqs) k(x, s) where k.x = f.lane_xid and f.seq > k.s))
   and not exists (select from millrace.lane_gap g where g.lane_id = f.lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq)
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'processing', f.priority, 1::smallint, 0::smallint, 1::smallint, 1, f.scheduled_at, null, c.claimed_at, null,
       c.claimed_at, c.worker_id, c.claimed_at, o.lease_until, 0::smallint, null, null, null, null, null,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.job_fact f
  join millrace.claim c on c.claimed_at >= f.created_at - interval '1 day' and c.span @> box(point(f.lane_id, f.seq), point(f.lane_id, f.seq)) and f.job_id = any (c.job_ids)
  join millrace.claim_open o on o.claim_id = c.claim_id and get_bit(o.held, array_position(c.job_ids, f.job_id) - 1) = 1
union all
select f.job_id, f.tenant_id, f.queue_id, f.type_id, 'completed', f.priority, 1::smallint, 0::smallint, 1::smallint, 1, f.scheduled_at, null, c.claimed_at, d.at,
       d.at, c.worker_id, null, null, 100::smallint, null, null, null, null, null,
       f.payload, f.job_name, f.job_category, f.owner_id, f.correlation_id, f.pipeline, f.stage, f.batch_id, f.parent_id,
       f.max_attempts, f.created_at
  from millrace.job_fact f
  join millrace.claim c on c.claimed_at >= f.created_at - interval '1 day' and c.span @> box(point(f.lane_id, f.seq), point(f.lane_id, f.seq)) and f.job_id = any (c.job_ids)
  join millrace.claim_done d on d.claim_id = c.claim_id and get_bit(d.done, array_position(c.job_ids, f.job_id) - 1) = 1;
