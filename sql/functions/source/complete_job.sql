-- millrace.complete_job: success of the delivery this worker holds. Fence: a worker whose lease was given away changes nothing, writes
-- no audit row, and gets false. Idempotent: the worker that completed the job gets true again.
create or replace function millrace.complete_job(p_job_id uuid, p_worker_id text, p_job_result jsonb default null)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_row millrace.moving;
begin
  if pg_column_size(p_job_result) > 65536 and octet_length(p_job_result::text) > 262144 then
    raise exception 'p_job_result is % bytes, the limit is 262144', octet_length(p_job_result::text)
      using errcode = 'MR004', hint = 'store it as a blob and complete the job with its key';
  end if;
  if p_worker_id is not null then
    v_row := millrace.take_held(p_job_id, p_worker_id);
  end if;
  if v_row.job_id is null then
    return exists (select from millrace.job_history h
                    where h.job_id = p_job_id and h.worker_id = p_worker_id and h.status = 'completed' and h.redriven_at is null
                      and (v_scope is null or h.tenant_id = v_scope));
  end if;
  v_row := millrace.with_outcome(v_row, 'ok', null, null);
  v_row.result := p_job_result;
  perform millrace.settle_core(array[v_row], p_worker_id);
  return true;
end;
$$;
