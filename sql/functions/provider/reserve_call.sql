-- millrace.reserve_call: the intent of a call that costs money, and what it may cost, on record before anything is sent. Over the budget of the tenant for the provider, all its models together, and the day (UTC) nothing is
-- written and `allowed` is false. p_call: provider, model, stage, request_sha256, estimated_tokens, reserved_micros, delivery_count; of a job: job_id, generation, and where they are known call_id
-- and capacity (millrace.begin_call).
create or replace function millrace.reserve_call(p_tenant_id uuid, p_call jsonb) returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_day date := (v_now at time zone 'UTC')::date;
  v_reserve bigint := (p_call ->> 'reserved_micros')::bigint;
  v_payee text := millrace.payee(p_call ->> 'provider');
  v_budget bigint;
  v_id uuid := coalesce((p_call ->> 'call_id')::uuid, millrace.new_id());
begin
  v_budget := coalesce((select b.micros_per_day from millrace.provider_budget b where b.tenant_id = p_tenant_id and b.provider = v_payee),
                       nullif(millrace.config_bigint('budget.micros_per_day', 0), 0));
  insert into millrace.provider_spend as s (tenant_id, provider, day) values (p_tenant_id, v_payee, v_day) on conflict do nothing;
  update millrace.provider_spend s set reserved_micros = s.reserved_micros + v_reserve, calls = s.calls + 1
   where s.tenant_id = p_tenant_id and s.provider = v_payee and s.day = v_day
     and (v_budget is null or s.reserved_micros + s.spent_micros + v_reserve <= v_budget);
  if not found then
    return jsonb_build_object('allowed', false, 'budget_micros', v_budget, 'day', v_day);
  end if;
  insert into millrace.provider_call (call_id, tenant_id, job_id, generation, delivery_count, stage, provider, model, request_sha256, day, reserved_micros, estimated_tokens, capacity, started_at)
  values (v_id, p_tenant_id, (p_call ->> 'job_id')::uuid, coalesce((p_call ->> 'generation')::integer, 1), (p_call ->> 'delivery_count')::integer, p_call ->> 'stage',
          p_call ->> 'provider', p_call ->> 'model', decode(p_call ->> 'request_sha256', 'hex'), v_day, v_reserve, (p_call ->> 'estimated_tokens')::bigint, nullif(p_call -> 'capacity', 'null'), v_now);
  return jsonb_build_object('allowed', true, 'call_id', v_id);
end;
$$;
