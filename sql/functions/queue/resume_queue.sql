-- millrace.resume_queue: ends a pause.
create or replace function millrace.resume_queue(p_queue text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id smallint;
begin
  update millrace.queue q set paused_at = null, paused_reason = null, paused_by = null, updated_at = millrace.now()
   where q.queue = p_queue returning q.queue_id into v_id;
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_queue) using errcode = 'MR007';
  end if;
  perform millrace.audit_policy('queue', p_queue, jsonb_build_object('paused', true), jsonb_build_object('paused', false), 'Queue resumed');
  perform millrace.wake_queues(array[v_id]);
end;
$$;
