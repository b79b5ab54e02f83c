-- millrace.pgmq_send: sends a message, which can be read at once or after delay seconds: its number. The message is the payload of a job, as durable as any other.
create or replace function millrace.pgmq_send(queue_name text, msg jsonb, delay integer default 0) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_type smallint := millrace.pgmq_type(queue_name);
  v_job uuid;
  v_id bigint;
begin
  if delay is null or delay < 0 then
    raise exception 'delay must be 0 or more seconds' using errcode = 'MR006';
  end if;
  v_job := millrace.enqueue_job('pgmq.' || lower(queue_name), jsonb_build_object('message', msg),
                                case when delay > 0 then jsonb_build_object('delay_seconds', delay) else '{}' end);
  insert into millrace.message as m (tenant_id, job_id, type_id, enqueued_at)
  select f.tenant_id, f.job_id, v_type, f.created_at from millrace.job_fact f where f.job_id = v_job returning m.msg_id into strict v_id;
  return v_id;
end;
$$;
