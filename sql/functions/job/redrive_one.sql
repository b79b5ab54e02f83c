-- millrace.redrive_one: the row of the dead generation is locked by the caller. A dedupe key that another live job has taken
-- meanwhile keeps the job dead ('duplicate').
create or replace function millrace.redrive_one(p_job_id uuid, p_generation smallint, p_due_at timestamptz, p_reason text) returns text
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_fact millrace.job_fact;
  v_now timestamptz := millrace.now();
begin
  select f.* into strict v_fact from millrace.job_fact f where f.job_id = p_job_id;
  if v_fact.dedupe_key is not null and v_fact.flags & 1 <> 0 then
    insert into millrace.dedupe_key (tenant_id, type_id, dedupe_key, job_id) values (v_fact.tenant_id, v_fact.type_id, v_fact.dedupe_key, p_job_id)
    on conflict do nothing;
    if not found then
      return 'duplicate';
    end if;
  end if;
  update millrace.job_history h set redriven_at = v_now where h.job_id = p_job_id and h.generation = p_generation;
  if v_fact.serial_key is not null then
    insert into millrace.serial_member (tenant_id, queue_id, serial_key, seq, job_id)
    values (v_fact.tenant_id, v_fact.queue_id, v_fact.serial_key, v_fact.seq, p_job_id);
  end if;
  insert into millrace.delayed (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count, crash_count, suspect_count,
      snooze_count, born_at, reason, due_at, delayed_at)
  values (p_job_id, v_fact.tenant_id, v_fact.queue_id, v_fact.type_id, v_fact.priority, v_fact.flags & ~(8 | 16), p_generation + 1, 0, 0, 0, 0, 0,
          v_now, 'scheduled', p_due_at, v_now);
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, old_values, new_values, reason)
  values (v_now, v_fact.tenant_id, millrace.actor(), 'job_queue', p_job_id::text, 'UPDATE', 'redriven', array[p_job_id],
          jsonb_build_object('status', 'failed', 'generation', p_generation),
          jsonb_build_object('status', 'pending', 'generation', p_generation + 1, 'due_at', p_due_at), coalesce(p_reason, 'Job redriven by operator'));
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids) values (v_now, v_fact.tenant_id, 'job.redriven', v_fact.queue_id, array[p_job_id]);
  insert into millrace.counter_delta (queue_id, tenant_id, failed, redriven, delayed) values (v_fact.queue_id, v_fact.tenant_id, -1, 1, 1);
  return 'redriven';
end;
$$;
