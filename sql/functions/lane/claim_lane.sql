-- millrace.claim_lane: claims up to p_limit jobs from the head of a lane for a worker process: one claim row, whatever their number.
-- Answers one row with what they have in common and then the jobs in order; nothing while another claims the lane, unless p_wait.
-- Fence: the bits of millrace.claim_open. An answer that was lost is repaired by way of millrace.unheld_leases or by the lease.
create or replace function millrace.claim_lane(
    p_lane_id integer, p_limit integer, p_cutoff timestamptz, p_worker_id text, p_process uuid, p_wait boolean)
  returns setof millrace.delivery language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_lane record;
  v_now timestamptz := millrace.now();
begin
  select l.queue_id, l.type_id, l.tenant_id, l.priority, t.job_type, coalesce(t.max_attempts, q.max_attempts)::integer as max_attempts,
         coalesce(t.run_timeout, q.run_timeout) as run_timeout, coalesce(t.run_timeout, q.run_timeout) + q.lease as lease into strict v_lane
    from millrace.lane l join millrace.queue q on q.queue_id = l.queue_id join millrace.job_type t on t.type_id = l.type_id
   where l.lane_id = p_lane_id;
  return query
  with line as materialized (
    select r.* from millrace.read_lane(p_lane_id, p_limit, p_cutoff, p_wait) r),
  sum as materialized (
    select millrace.new_claim_id(count(*)::integer) as id, count(*)::integer as jobs, array_agg(f.job_id) as job_ids, min(f.seq) as seq_from, max(f.seq) as seq_to
      from line f having count(*) > 0),
  claimed as (
    insert into millrace.claim (claim_id, lane_id, tenant_id, queue_id, type_id, worker_id, process, claimed_at, job_ids, span)
    select s.id, p_lane_id, v_lane.tenant_id, v_lane.queue_id, v_lane.type_id, p_worker_id, p_process, v_now, s.job_ids,
           box(point(p_lane_id, s.seq_from), point(p_lane_id, s.seq_to)) from sum s),
  opened as (
    insert into millrace.claim_open (claim_id, tenant_id, queue_id, type_id, worker_id, process, claimed_at, lease_until, held)
    select s.id, v_lane.tenant_id, v_lane.queue_id, v_lane.type_id, p_worker_id, p_process, v_now, v_now + v_lane.lease,
           repeat('1', s.jobs)::bit varying from sum s),
  audited as (
    insert into millrace.audit (at, tenant_id, actor, worker_id, table_name, record_id, operation, action, new_values, reason)
    select v_now, v_lane.tenant_id, p_worker_id, p_worker_id, 'claim', s.id::text, 'INSERT', 'claimed',
           jsonb_build_object('jobs', s.jobs, 'job_ids_sha256', encode(sha256(array_send(s.job_ids)), 'hex'), 'worker_id', p_worker_id), 'Jobs claimed'
      from sum s),
  told as (
    insert into millrace.event (at, tenant_id, kind, queue_id, data)
    select v_now, v_lane.tenant_id, 'job.claimed', v_lane.queue_id, jsonb_build_object('claim', s.id, 'jobs', s.jobs) from sum s),
  counted as (
    insert into millrace.counter_delta (queue_id, tenant_id, ready, leased) select v_lane.queue_id, v_lane.tenant_id, -s.jobs, s.jobs from sum s)
  select null::uuid, s.id, v_lane.tenant_id, v_lane.job_type, null::jsonb, v_lane.priority::integer, 1, v_lane.max_attempts, 1, 1,
         (extract(epoch from v_lane.run_timeout) * 1000)::bigint, (extract(epoch from v_lane.lease) * 1000)::bigint,
         null::text, null::uuid, null::text, null::text, null::text, null::text, null::uuid, null::uuid, null::text, null::jsonb, false,
         'lane:' || p_lane_id || ':0'
    from sum s
  union all
  select f.job_id, null, null, null, f.payload, null, null, null, null, null, null, null, f.job_name, null, f.correlation_id, f.traceparent, f.pipeline, f.stage,
         null, f.parent_id, null, null, null, null
    from line f;
end;
$$;
