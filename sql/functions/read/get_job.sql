-- millrace.get_job: everything known of one job, for people and clients: where it lies, its attempts, and how many log lines it has.
create or replace function millrace.get_job(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_fact millrace.job_fact;
  v_live jsonb;
  v_final jsonb;
begin
  select f.* into v_fact from millrace.job_fact f
   where f.job_id = p_job_id and (millrace.tenant_scope() is null or f.tenant_id = millrace.tenant_scope());
  if not found then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  select s.state into v_live from (
    select jsonb_build_object('status', 'pending', 'place', 'ready', 'attempt', r.attempt, 'delivery_count', r.delivery_count, 'generation', r.generation,
             'scheduled_at', r.ready_at) as state from millrace.ready r where r.job_id = p_job_id
    union all
    select jsonb_build_object('status', case d.reason when 'retrying' then 'retrying' when 'deferred' then 'deferred' else 'pending' end, 'place', 'delayed',
             'waits_for', d.reason, 'attempt', d.attempt, 'delivery_count', d.delivery_count, 'generation', d.generation,
             'scheduled_at', case when isfinite(d.due_at) then d.due_at end) from millrace.delayed d where d.job_id = p_job_id
    union all
    select jsonb_build_object('status', 'processing', 'place', 'lease', 'attempt', l.attempt + 1, 'delivery_count', l.delivery_count, 'generation', l.generation,
             'worker_id', l.worker_id, 'started_at', l.leased_at, 'lease_until', l.lease_until, 'cancel_requested_at', l.cancel_requested_at,
             'progress', l.progress, 'progress_message', l.progress_message, 'progress_data', l.progress_data) from millrace.lease l where l.job_id = p_job_id
    union all
    select jsonb_build_object('status', 'pending', 'place', 'ready', 'attempt', 0, 'delivery_count', 0, 'generation', 1, 'scheduled_at', v_fact.scheduled_at)
      from millrace.lane_state(p_job_id) n where n.state = 'ready'
    union all
    select jsonb_build_object('status', 'processing', 'place', 'lease', 'attempt', 1, 'delivery_count', 1, 'generation', 1, 'worker_id', n.worker_id,
             'started_at', n.started_at, 'lease_until', n.lease_until, 'cancel_requested_at', null, 'progress', 0, 'progress_message', null, 'progress_data', null)
      from millrace.lane_state(p_job_id) n where n.state = 'leased'
    union all
    select jsonb_build_object('status', 'completed', 'reason', null, 'attempt', 1, 'delivery_count', 1, 'generation', 1, 'started_at', n.started_at,
             'finished_at', n.finished_at, 'worker_id', n.worker_id, 'progress', 100, 'result', null, 'error', null, 'fingerprint', null, 'dead_letter_at', null)
      from millrace.lane_state(p_job_id) n where n.state = 'completed') s;
  select jsonb_build_object('status', h.status, 'reason', h.reason, 'attempt', h.attempt, 'delivery_count', h.delivery_count, 'generation', h.generation,
           'started_at', h.started_at, 'finished_at', h.finished_at, 'worker_id', h.worker_id, 'progress', h.progress, 'result', h.result, 'error', h.error,
           'fingerprint', h.fingerprint, 'dead_letter_at', case when h.status = 'failed' then h.finished_at end)
    into v_final from millrace.job_history h where h.job_id = p_job_id and h.redriven_at is null order by h.generation desc limit 1;
  return jsonb_build_object('job_id', v_fact.job_id, 'tenant_id', v_fact.tenant_id,
      'queue', (select q.queue from millrace.queue q where q.queue_id = v_fact.queue_id),
      'job_type', (select t.job_type from millrace.job_type t where t.type_id = v_fact.type_id),
      'job_name', v_fact.job_name, 'priority', v_fact.priority, 'payload', v_fact.payload, 'created_at', v_fact.created_at, 'created_by', v_fact.created_by,
      'scheduled_at', v_fact.scheduled_at, 'correlation_id', v_fact.correlation_id, 'batch_id', v_fact.batch_id, 'parent_id', v_fact.parent_id,
      'owner_id', v_fact.owner_id, 'dedupe_key', v_fact.dedupe_key, 'serial_key', v_fact.serial_key, 'concurrency_key', v_fact.concurrency_key,
      'pipeline', v_fact.pipeline, 'stage', v_fact.stage,
      'max_attempts', (select coalesce(v_fact.max_attempts, t.max_attempts, q.max_attempts) from millrace.queue q, millrace.job_type t
                        where q.queue_id = v_fact.queue_id and t.type_id = v_fact.type_id),
      'after', (select jsonb_agg(d.depends_on) from millrace.dependency d where d.job_id = p_job_id),
      'attempts', coalesce((select jsonb_agg(jsonb_build_object('generation', a.generation, 'delivery', a.delivery_count, 'outcome', a.outcome, 'charged', a.charged,
                    'worker_id', a.worker_id, 'started_at', a.started_at, 'ended_at', a.ended_at, 'due_at', a.due_at, 'error', a.error) order by a.attempt_seq)
                    from millrace.attempt a where a.job_id = p_job_id), '[]'),
      'log_lines', (select count(*) from millrace.job_log g where g.job_id = p_job_id))
    || coalesce(v_live, v_final, '{}');
end;
$$;
