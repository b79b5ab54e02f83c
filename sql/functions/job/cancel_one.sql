-- millrace.cancel_one: cancels one job wherever it lies. A job that moves between two of the looks is found on the next round.
create or replace function millrace.cancel_one(p_job_id uuid, p_scope uuid, p_reason text) returns text
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone millrace.moving;
  v_lease record;
begin
  if not exists (select from millrace.job_fact f where f.job_id = p_job_id and (p_scope is null or f.tenant_id = p_scope)) then
    return 'not_found';
  end if;
  for v_round in 1 .. 5 loop
    perform millrace.unfold(array[p_job_id]);
    with d as (delete from millrace.ready r where r.job_id = p_job_id returning r.*)
    select (m.row).* into v_gone from (select row(d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count, d.crash_count, d.suspect_count,
               d.snooze_count, d.born_at, d.start_deadline, null, null, null, null, d.ready_seq, 0, null, p_reason, 'cancelled', null, null, null, null, null,
               null, null, null, null, null)::millrace.moving as row from d) m;
    if v_gone.job_id is not null then
      perform millrace.settle_core(array[v_gone], null, 'ready');
      return 'cancelled';
    end if;
    with d as (delete from millrace.delayed r where r.job_id = p_job_id returning r.*)
    select (m.row).* into v_gone from (select row(d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count, d.crash_count, d.suspect_count,
               d.snooze_count, d.born_at, d.start_deadline, null, null, null, null, null, 0, null, p_reason, 'cancelled', null, null, null, null, null,
               null, null, null, null, null)::millrace.moving as row from d) m;
    if v_gone.job_id is not null then
      perform millrace.settle_core(array[v_gone], null, 'delayed');
      return 'cancelled';
    end if;
    update millrace.lease l set cancel_requested_at = coalesce(l.cancel_requested_at, millrace.now()), cancel_reason = coalesce(l.cancel_reason, p_reason)
     where l.job_id = p_job_id returning l.tenant_id, l.queue_id into v_lease;
    if found then
      perform millrace.record_moves('cancel_requested', array[row(p_job_id, v_lease.tenant_id, v_lease.queue_id, null, null, null, null, null, null, null, null, null,
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)::millrace.moving],
        null, p_reason, null, null, null);
      return 'cancel_requested';
    end if;
    if millrace.place_of(p_job_id) = 'final' then
      return 'already_final';
    end if;
  end loop;
  return 'not_found';
end;
$$;
