-- millrace.pgmq_send: sends a message, which can be read at once or after p_delay seconds: its number. The message is the payload of a job, as durable as any other.
create or replace function millrace.pgmq_send(p_queue_name text, p_msg jsonb, p_delay integer default 0) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_type smallint := millrace.pgmq_type(p_queue_name);
  v_job uuid;
  v_id bigint;
begin
  if p_delay is null or p_delay < 0 then
    raise exception 'p_delay must be 0 or more seconds' using errcode = 'MR006';
  end if;
  v_job := millrace.enqueue_job('pgmq.' || lower(p_queue_name), jsonb_build_object('message', p_msg),
                                case when p_delay > 0 then jsonb_build_object('delay_seconds', p_delay) else '{}' end);
  insert into millrace.message as m (tenant_id, job_id, type_id, enqueued_at)
  select f.tenant_id, f.job_id, v_type, f.created_at from millrace.job_fact f where f.job_id = v_job returning m.msg_id into strict v_id;
  return v_id;
end;
$$;
