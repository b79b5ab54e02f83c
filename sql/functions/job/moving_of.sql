-- millrace.moving_of: a lease as a row on its way somewhere else.
create or replace function millrace.moving_of(p_lease millrace.lease) returns millrace.moving
  language sql immutable
  return row(p_lease.job_id, p_lease.tenant_id, p_lease.queue_id, p_lease.type_id, p_lease.priority, p_lease.flags,
             p_lease.generation, p_lease.attempt, p_lease.delivery_count, p_lease.crash_count, p_lease.suspect_count,
             p_lease.snooze_count, p_lease.born_at, null, p_lease.token, p_lease.worker_id, p_lease.leased_at, p_lease.lease_key, p_lease.ready_seq,
             p_lease.progress, p_lease.progress_data,
             case when p_lease.cancel_requested_at is not null then coalesce(p_lease.cancel_reason, 'cancelled') end,
             null, null, null, null, null, null, null, null, null, null, null)::millrace.moving;
