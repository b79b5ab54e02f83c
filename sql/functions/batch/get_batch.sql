-- millrace.get_batch: state and counts of a batch.
create or replace function millrace.get_batch(p_batch_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_answer jsonb;
begin
  select jsonb_build_object('batch_id', b.batch_id, 'tenant_id', b.tenant_id, 'name', b.name, 'total', b.total, 'completed', b.completed, 'failed', b.failed,
           'cancelled', b.cancelled, 'pending', b.total - b.completed - b.failed - b.cancelled, 'sealed_at', b.sealed_at, 'finished_at', b.finished_at,
           'callback_job_id', b.callback_job_id, 'created_at', b.created_at,
           'progress', case when b.total > 0 then floor(100.0 * (b.completed + b.failed + b.cancelled) / b.total) else 0 end)
    into v_answer from millrace.batch b
   where b.batch_id = p_batch_id and (millrace.tenant_scope() is null or b.tenant_id = millrace.tenant_scope());
  if not found then
    raise exception 'batch % does not exist', p_batch_id using errcode = 'MR018';
  end if;
  return v_answer;
end;
$$;
