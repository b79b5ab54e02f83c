-- millrace.pgmq_archive: a message is put aside: not read again, and its job has "archived" in its result. False where there is no such message.
create or replace function millrace.pgmq_archive(p_queue_name text, p_msg_id bigint) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return millrace.pgmq_end(p_queue_name, p_msg_id, 'archived');
end;
$$;
