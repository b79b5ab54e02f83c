-- millrace.fail_job: failure of the delivery this worker holds. Retried by the queue's policy (or after p_retry_after seconds) while
-- attempts are left, else, or when p_retryable is false, dead-lettered. Fence and repeat as in millrace.complete_job.
create or replace function millrace.fail_job(
    p_job_id uuid, p_worker_id text, p_error jsonb, p_retryable boolean default true, p_retry_after integer default null)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_error jsonb := case jsonb_typeof(p_error) when 'object' then p_error when 'null' then null
                        when 'string' then jsonb_build_object('message', p_error) end;
  v_row millrace.moving;
  v_outcome text;
begin
  if p_error is not null and v_error is null and jsonb_typeof(p_error) <> 'null' then
    raise exception 'p_error must be a JSON object or string' using errcode = 'MR024';
  end if;
  if octet_length(v_error::text) > 65536 then
    raise exception 'p_error is % bytes, the limit is 65536', octet_length(v_error::text) using errcode = 'MR004';
  end if;
  if p_retry_after < 0 then
    raise exception 'p_retry_after must not be negative' using errcode = 'MR006';
  end if;
  if p_worker_id is not null then
    v_row := millrace.take_held(p_job_id, p_worker_id);
  end if;
  if v_row.job_id is null then
    select a.outcome into v_outcome from millrace.attempt a
     where a.job_id = p_job_id and a.worker_id = p_worker_id and (v_scope is null or a.tenant_id = v_scope)
     order by a.attempt_seq desc limit 1;
    return coalesce(v_outcome in ('retry', 'permanent'), false);
  end if;
  perform millrace.settle_core(array[millrace.with_outcome(v_row,
    case when coalesce(p_retryable, true) then 'retry' else 'permanent' end,
    coalesce(millrace.redact(v_error), jsonb_build_object('message', 'failed without a message')),
    case when p_retry_after is not null then millrace.now() + make_interval(secs => least(p_retry_after, 86400)) end)],
    p_worker_id);
  return true;
end;
$$;
