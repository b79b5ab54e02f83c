-- millrace.begin_call: a job is about to pay a provider: the intent, and what it may cost, are on record before anything is sent (millrace.reserve_call), out of the purse of the job's tenant. While the provider has asked
-- everybody to wait nothing is, also for a job that was claimed before: allowed is false, and retry_ms says for how long.
-- p_call: job_id, generation, delivery_count, stage, provider, model, request_sha256, estimated_tokens, reserved_micros.
create or replace function millrace.begin_call(p_call jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := (select j.tenant_id from millrace.job_fact j where j.job_id = (p_call ->> 'job_id')::uuid);
  v_provider text := p_call ->> 'provider';
  v_wait interval := (select a.throttled_until - millrace.now() from millrace.api_rate_limits a
                       where a.provider_name = millrace.payee(v_provider) and a.api_endpoint = substr(v_provider, strpos(v_provider, ':') + 1));
begin
  if v_tenant is null then
    raise exception 'job % does not exist', p_call ->> 'job_id' using errcode = 'MR009';
  end if;
  if v_wait > interval '0' then
    return jsonb_build_object('allowed', false, 'retry_ms', ceil(extract(epoch from least(v_wait, interval '10 minutes')) * 1000));
  end if;
  return millrace.reserve_call(v_tenant, p_call);
end;
$$;
