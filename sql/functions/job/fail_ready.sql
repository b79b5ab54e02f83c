-- millrace.fail_ready: ready jobs that cannot be run any more end as failed, with the reason and error given, without having run.
create or replace function millrace.fail_ready(p_rows millrace.ready[], p_reason text, p_error jsonb) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone millrace.moving[];
begin
  with d as (
    delete from millrace.ready r using unnest(p_rows) p where r.job_id = p.job_id returning r.*)
  select array_agg(row(d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count, d.crash_count,
           d.suspect_count, d.snooze_count, d.born_at, d.start_deadline, null, null, null, null, d.ready_seq, 0, null, null, 'permanent', null, null,
           p_error, null, null, null, null, p_reason, null, null)::millrace.moving)
    into v_gone from d;
  perform millrace.settle_core(v_gone, null, 'ready');
end;
$$;
