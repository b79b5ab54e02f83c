-- millrace.pgmq_end: a message is done with: its job completes where somebody holds it, and is cancelled where nobody does. False where the queue has no such message.
create or replace function millrace.pgmq_end(p_queue_name text, p_msg_id bigint, p_word text) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_job uuid;
  v_row millrace.moving;
begin
  delete from millrace.message m
   where m.msg_id = p_msg_id and m.type_id = millrace.pgmq_type(p_queue_name) and (v_scope is null or m.tenant_id = v_scope) returning m.job_id into v_job;
  if v_job is null then
    return false;
  end if;
  v_row := millrace.take_held(v_job, null);
  if v_row.job_id is null then
    return millrace.cancel_one(v_job, v_scope, p_word) in ('cancelled', 'cancel_requested');
  end if;
  v_row := millrace.with_outcome(v_row, 'ok', null, null);
  v_row.result := jsonb_build_object(p_word, true);
  perform millrace.settle_core(array[v_row], v_row.worker_id);
  return true;
end;
$$;
