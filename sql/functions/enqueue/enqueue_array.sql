-- millrace.enqueue_array: bulk form for many payloads of one type with the same options; ids come back in the order given.
create or replace function millrace.enqueue_array(p_job_type text, p_payloads jsonb[], p_options jsonb default '{}')
  returns setof uuid language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_model millrace.job_spec;
begin
  if jsonb_typeof(p_options) <> 'object' then
    raise exception 'p_options must be a JSON object, not a JSON %', jsonb_typeof(p_options) using errcode = 'MR024';
  end if;
  if coalesce(p_options, '{}') ?| array['id', 'dedupe_key', 'idempotency_key', 'payload', 'job_type'] then
    raise exception 'options of a bulk call cannot hold id, dedupe_key, idempotency_key, payload or job_type'
      using errcode = 'MR024', hint = 'use millrace.enqueue_jobs';
  end if;
  if millrace.plain_options(p_options) then
    return query select e from millrace.enqueue_plain(p_job_type, p_options ->> 'queue', (p_options ->> 'priority')::integer, p_payloads, millrace.current_tenant()) e;
    if found then
      return;
    end if;
  end if;
  v_model := (millrace.specs_from_json(coalesce(p_options, '{}') || jsonb_build_object('job_type', p_job_type, 'payload', 'null'::jsonb)))[1];
  return query
  select e.job_id from millrace.enqueue_specs(
    array(select (u.i, null, v_model.job_type, v_model.queue, u.payload, v_model.job_name, v_model.job_category, v_model.owner_id,
                  v_model.priority, v_model.scheduled_at, null, null, v_model.serial_key, v_model.concurrency_key, null, null,
                  v_model.correlation_id, v_model.traceparent, v_model.pipeline, v_model.stage, v_model.batch_id,
                  v_model.parent_id, v_model.after_jobs, v_model.after_mode, v_model.after_failure, v_model.max_attempts,
                  v_model.run_timeout, v_model.start_deadline)::millrace.job_spec
            from unnest(p_payloads) with ordinality u(payload, i)),
    millrace.current_tenant()) e order by e.ord;
end;
$$;
