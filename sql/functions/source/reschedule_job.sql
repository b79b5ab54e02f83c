-- millrace.reschedule_job: puts a running job back until later without charging an attempt (backpressure). Acts only on a job that
-- is processing, and where a worker is named only on what that worker holds; else false and nothing changed. Bounded by the
-- queue's age and snooze limits. The reason says nothing about the provider: others go on.
create or replace function millrace.reschedule_job(
    p_job_id uuid, p_delay_seconds integer, p_reason text, p_add_jitter boolean default true, p_worker_id text default null)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_delay integer := coalesce(p_delay_seconds, millrace.config_integer('queue.backpressure_delay_seconds', 30));
  v_jitter integer := 0;
  v_row millrace.moving;
begin
  if v_delay < 0 or v_delay > 604800 then
    raise exception 'p_delay_seconds must be between 0 and 604800, got %', v_delay using errcode = 'MR006';
  end if;
  if coalesce(p_add_jitter, true) then
    v_jitter := (random() * least(v_delay * 0.5, 30))::integer;
  end if;
  v_row := millrace.take_held(p_job_id, p_worker_id);
  if v_row.job_id is null then
    return false;
  end if;
  perform millrace.settle_core(array[millrace.with_outcome(v_row, 'rescheduled',
    jsonb_build_object('reschedule_reason', left(p_reason, 500), 'reschedule_delay_seconds', v_delay, 'jitter_seconds', v_jitter,
                       'total_delay_seconds', v_delay + v_jitter, 'rescheduled_at', v_now),
    v_now + make_interval(secs => v_delay + v_jitter))], v_row.worker_id);
  return true;
end;
$$;
