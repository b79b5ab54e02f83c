-- millrace.beat_worker: renews the lease of a worker process. 'alive' false means it was declared dead: its jobs belong to others,
-- it must stop them and register anew. The answer carries cancellations, the number of suspects that wait to be run alone, and those of its queues in which the end of a job makes room for another (limited).
create or replace function millrace.beat_worker(p_worker_id text, p_process uuid, p_info jsonb default '{}') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_lease interval;
  v_queues text[];
begin
  update millrace.worker w
     set beat_at = v_now, lease_until = v_now + w.lease, running = coalesce((p_info ->> 'running')::integer, w.running),
         draining = coalesce((p_info ->> 'draining')::boolean, w.draining),
         clock_skew_ms = coalesce((p_info ->> 'client_time_ms')::bigint - floor(extract(epoch from v_now) * 1000)::bigint, w.clock_skew_ms)
   where w.worker_id = p_worker_id and w.nonce = p_process
  returning w.lease, w.queues into v_lease, v_queues;
  if not found then
    return jsonb_build_object('alive', false);
  end if;
  return jsonb_build_object(
    'alive', true, 'lease_ms', floor(extract(epoch from v_lease) * 1000),
    'cancel', coalesce((select jsonb_agg(jsonb_build_object('job_id', l.job_id, 'token', l.token, 'reason', l.cancel_reason))
                          from millrace.lease l where l.process = p_process and l.cancel_requested_at is not null), '[]'),
    'suspects', (select count(*) from (select from millrace.ready r where r.suspect_count >= 3 limit 100) s),
    'limited', (select coalesce(jsonb_agg(q.queue), '[]') from millrace.queue q
                 where q.queue = any (v_queues) and q.paused_at is null
                   and (q.concurrency_max is not null or q.key_concurrency_max is not null
                        or exists (select from millrace.job_type t where t.queue_id = q.queue_id and t.provider_name is not null))));
end;
$$;
