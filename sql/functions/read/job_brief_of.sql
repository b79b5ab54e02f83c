-- millrace.job_brief_of: what the API says of one job; null for an unknown one. One look after the other, each by a key, until the place is
-- found: all looks of a stable function see one snapshot, so a job that moves is found in one place. p_full: with its result.
create or replace function millrace.job_brief_of(p_job_id uuid, p_full boolean default true) returns millrace.job_brief
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_fact record;
  v_at record;
  v_job millrace.job_brief;
begin
  select f.tenant_id, f.queue_id, f.type_id, f.priority, f.job_name, f.stage, f.max_attempts, f.created_at, f.scheduled_at, f.batch_id, f.parent_id,
         f.owner_id, f.correlation_id, f.lane_id
    into v_fact from millrace.job_fact f where f.job_id = p_job_id;
  if not found then
    return null;
  end if;
  v_job.job_id := p_job_id;
  v_job.tenant_id := v_fact.tenant_id;
  v_job.job_name := v_fact.job_name;
  v_job.stage := v_fact.stage;
  v_job.priority := v_fact.priority;
  v_job.progress := 0;
  v_job.generation := 1;
  v_job.created_at := v_fact.created_at;
  v_job.scheduled_at := v_fact.scheduled_at;
  v_job.batch_id := v_fact.batch_id;
  v_job.parent_id := v_fact.parent_id;
  v_job.owner_id := v_fact.owner_id;
  v_job.correlation_id := v_fact.correlation_id;
  select q.queue, t.job_type, coalesce(v_fact.max_attempts, t.max_attempts, q.max_attempts) into v_job.queue, v_job.job_type, v_job.max_attempts
    from millrace.queue q, millrace.job_type t where q.queue_id = v_fact.queue_id and t.type_id = v_fact.type_id;
  -- Most jobs of a lane never leave it.
  if v_fact.lane_id is not null then
    select s.state, s.worker_id, s.started_at, s.finished_at into v_at from millrace.lane_state(p_job_id) s;
    if found then
      v_job.status := case v_at.state when 'ready' then 'pending' when 'leased' then 'processing' else 'completed' end;
      v_job.attempt := case v_at.state when 'ready' then 0 else 1 end;
      v_job.delivery_count := v_job.attempt;
      v_job.worker_id := v_at.worker_id;
      v_job.started_at := v_at.started_at;
      v_job.finished_at := v_at.finished_at;
      v_job.progress := case v_at.state when 'completed' then 100 else 0 end;
      return v_job;
    end if;
  end if;
  select l.attempt, l.delivery_count, l.generation, l.worker_id, l.leased_at, l.cancel_requested_at, l.cancel_reason, l.progress, l.progress_message,
         l.progress_data into v_at from millrace.lease l where l.job_id = p_job_id;
  if found then
    v_job.status := 'processing';
    v_job.attempt := v_at.attempt + 1;
    v_job.worker_id := v_at.worker_id;
    v_job.started_at := v_at.leased_at;
    v_job.cancel_requested_at := v_at.cancel_requested_at;
    v_job.reason := case when v_at.cancel_requested_at is not null then coalesce(v_at.cancel_reason, 'cancelled') end;
    v_job.progress := v_at.progress;
    v_job.progress_message := v_at.progress_message;
    v_job.progress_data := v_at.progress_data;
  else
    select r.attempt, r.delivery_count, r.generation, null::text as reason, r.ready_at as due_at into v_at from millrace.ready r where r.job_id = p_job_id;
    if not found then
      select d.attempt, d.delivery_count, d.generation, d.reason::text as reason, nullif(d.due_at, 'infinity') as due_at into v_at
        from millrace.delayed d where d.job_id = p_job_id;
    end if;
    if found then
      v_job.status := case v_at.reason when 'retrying' then 'retrying' when 'deferred' then 'deferred' else 'pending' end;
      v_job.reason := v_at.reason;
      v_job.attempt := v_at.attempt;
      v_job.scheduled_at := case when v_at.delivery_count = 0 and v_at.reason is null then v_fact.scheduled_at else v_at.due_at end;
    else
      return millrace.finished_brief(v_job, p_full);
    end if;
  end if;
  v_job.delivery_count := v_at.delivery_count;
  v_job.generation := v_at.generation;
  if v_job.delivery_count > 1 or (v_job.delivery_count = 1 and v_job.status <> 'processing') then
    select a.error into v_job.error from millrace.attempt a
     where a.job_id = p_job_id and a.generation = v_job.generation and a.error is not null order by a.attempt_seq desc limit 1;
  end if;
  return v_job;
end;
$$;
