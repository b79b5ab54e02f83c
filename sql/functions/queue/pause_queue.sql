-- millrace.pause_queue: no job of the queue is handed out until it is resumed; running jobs go on.
create or replace function millrace.pause_queue(p_queue text, p_reason text default null) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  update millrace.queue q set paused_at = coalesce(q.paused_at, millrace.now()), paused_reason = left(p_reason, 500), paused_by = millrace.actor(),
         updated_at = millrace.now() where q.queue = p_queue;
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_queue) using errcode = 'MR007';
  end if;
  perform millrace.audit_policy('queue', p_queue, jsonb_build_object('paused', false), jsonb_build_object('paused', true), coalesce(p_reason, 'Queue paused'));
end;
$$;
