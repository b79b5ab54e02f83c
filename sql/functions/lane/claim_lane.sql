-- millrace.claim_lane: claims up to p_limit jobs from the head of a lane for a worker process: one claim row, whatever their number.
-- Answers one row with what they have in common and a line for each; nothing while another claims the lane, unless p_wait.
-- p_lines: false leaves the lines to millrace.claim_lines. p_provider_id: whose row the caller has locked, and which has room for p_limit requests.
-- Fence: the bits of millrace.claim_open. An answer that was lost is repaired by way of millrace.unheld_leases or by the lease.
create or replace function millrace.claim_lane(
    p_lane_id integer, p_limit integer, p_cutoff timestamptz, p_worker_id text, p_process uuid, p_wait boolean, p_provider_id integer, p_lines boolean)
  returns millrace.delivery language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane record;
  v_read millrace.stretch;
  v_more millrace.stretch;
  v_jobs integer;
  v_claim uuid;
  v_now timestamptz := millrace.now();
begin
  for v_more in select r.* from millrace.read_lane(p_lane_id, p_limit, p_cutoff, p_wait, p_provider_id is not null, p_lines) r loop
    v_read := (v_read.job_ids || v_more.job_ids, least(v_read.seq_from, v_more.seq_from), greatest(v_read.seq_to, v_more.seq_to),
               concat_ws(E'\n', v_read.lines, v_more.lines), coalesce(v_read.tokens, 0) + v_more.tokens);
  end loop;
  -- Lane 0 does not exist: its claim writes nothing, but plans all that another needs.
  if v_read.job_ids is null and p_lane_id <> 0 then
    return null;
  end if;
  v_jobs := cardinality(v_read.job_ids);
  v_claim := millrace.new_claim_id(v_jobs);
  with l as materialized (
    select l.queue_id, l.type_id, l.tenant_id, l.priority, t.job_type, coalesce(t.max_attempts, q.max_attempts)::integer as max_attempts,
           coalesce(t.run_timeout, q.run_timeout) as run_timeout, coalesce(t.run_timeout, q.run_timeout) + q.lease as lease
      from millrace.lane l join millrace.queue q on q.queue_id = l.queue_id join millrace.job_type t on t.type_id = l.type_id
     where l.lane_id = p_lane_id),
  kept as (
    insert into millrace.claim (claim_id, lane_id, tenant_id, queue_id, type_id, worker_id, process, claimed_at, job_ids, span)
    select v_claim, p_lane_id, l.tenant_id, l.queue_id, l.type_id, p_worker_id, p_process, v_now, v_read.job_ids,
           box(point(p_lane_id, v_read.seq_from), point(p_lane_id, v_read.seq_to)) from l),
  opened as (
    insert into millrace.claim_open (claim_id, tenant_id, queue_id, type_id, worker_id, process, claimed_at, lease_until, held)
    select v_claim, l.tenant_id, l.queue_id, l.type_id, p_worker_id, p_process, v_now, v_now + l.lease, repeat('1', v_jobs)::bit varying from l),
  audited as (
    insert into millrace.audit (at, tenant_id, actor, worker_id, table_name, record_id, operation, action, new_values, reason)
    select v_now, l.tenant_id, p_worker_id, p_worker_id, 'claim', v_claim::text, 'INSERT', 'claimed',
           jsonb_build_object('jobs', v_jobs, 'job_ids_sha256', encode(sha256(array_send(v_read.job_ids)), 'hex'), 'worker_id', p_worker_id), 'Jobs claimed'
      from l),
  told as (
    insert into millrace.event (at, tenant_id, kind, queue_id, data)
    select v_now, l.tenant_id, 'job.claimed', l.queue_id, jsonb_build_object('claim', v_claim, 'jobs', v_jobs) from l),
  counted as (
    insert into millrace.counter_delta (queue_id, tenant_id, ready, leased) select l.queue_id, l.tenant_id, -v_jobs, v_jobs from l)
  select l.* into v_lane from l;
  if not found then
    return null;
  end if;
  if p_provider_id is not null then
    perform millrace.capacity_take_claim(p_provider_id, v_claim, v_jobs, v_read.tokens, p_worker_id, v_now + v_lane.lease);
  end if;
  return (null, v_claim, v_lane.tenant_id, v_lane.job_type, null, v_lane.priority, 1, v_lane.max_attempts, 1, 1,
          (extract(epoch from v_lane.run_timeout) * 1000)::bigint, (extract(epoch from v_lane.lease) * 1000)::bigint,
          null, null, null, null, null, null, null, null, null, null, false, 'lane:' || p_lane_id || ':0', case when p_lines then v_read.lines end)::millrace.delivery;
end;
$$;
