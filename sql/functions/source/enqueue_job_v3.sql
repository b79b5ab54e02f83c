-- millrace.enqueue_job_v3: the Guardian plan's enqueue. Adds estimated_tokens where it is missing, and starts a job of a busy
-- provider a little later. Messages for an unknown type, an empty payload and a missing key are the source's.
create or replace function millrace.enqueue_job_v3(
    job_type text, job_name text, job_payload jsonb, job_category text default 'standard', priority integer default 5,
    scheduled_at timestamptz default now())
  returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_payload jsonb := enqueue_job_v3.job_payload;
  v_due timestamptz := enqueue_job_v3.scheduled_at;
  v_delay interval;
  v_job_id uuid;
begin
  if jsonb_typeof(v_payload) = 'object' and v_payload <> '{}'::jsonb and v_payload ->> 'estimated_tokens' is null then
    v_payload := v_payload || jsonb_build_object('estimated_tokens', 1000);
  end if;
  select millrace.backpressure_delay(millrace.provider_of(t.type_id)) into v_delay
    from millrace.job_type t where t.job_type = enqueue_job_v3.job_type and t.provider_name is not null;
  if v_delay > interval '0' then
    v_due := greatest(v_due, millrace.now()) + v_delay;
  end if;
  select e.job_id into strict v_job_id
    from millrace.enqueue_specs(millrace.specs_from_json(jsonb_build_object(
           'job_type', enqueue_job_v3.job_type, 'job_name', enqueue_job_v3.job_name, 'payload', v_payload,
           'job_category', enqueue_job_v3.job_category, 'priority', enqueue_job_v3.priority, 'scheduled_at', v_due)),
         millrace.current_tenant()) e;
  return v_job_id;
end;
$$;
