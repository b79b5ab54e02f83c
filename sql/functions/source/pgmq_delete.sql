-- millrace.pgmq_delete: a message was dealt with. Its job stays in the history like every other (D11): false where there is no such message.
create or replace function millrace.pgmq_delete(p_queue_name text, p_msg_id bigint) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return millrace.pgmq_end(p_queue_name, p_msg_id, 'deleted');
end;
$$;
