-- millrace.begin_call: a job is about to pay a provider: the intent, and what it may cost, are on record before anything is sent (millrace.reserve_call), out of the purse of the job's tenant. While the provider has asked
-- everybody to wait nothing is, also for a job that was claimed before: allowed is false, and retry_ms says for how long.
-- p_call: job_id, generation, delivery_count, stage, provider, model, request_sha256, estimated_tokens, reserved_micros; room: the call takes its room at the limits of the provider (millrace.take_capacity) in this very transaction,
-- so that none is lost to a call that is refused, and for a delivery that holds its lease only (MR001), however often it is said: token (of the lease), requests (0: the claim took that of this call), claimed_tokens (the claim took
-- its estimate for this call, which takes what it needs beyond that; neither counts at a provider where the claim took no slot);
-- call_id, of the caller's making: said again, because the answer was lost, the call is answered as it stands, and nothing is taken again. Without one it is a call of its own each time.
-- Answers allowed, call_id and capacity (for millrace.end_call; `claimed` in it: what the claim took besides). Not allowed: retry_ms, with tokens_room where there is no room; or budget_micros.
create or replace function millrace.begin_call(p_call jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_call uuid := (p_call ->> 'call_id')::uuid;
  v_known millrace.provider_call;
  v_tenant uuid := (select j.tenant_id from millrace.job_fact j where j.job_id = (p_call ->> 'job_id')::uuid);
  v_provider text := p_call ->> 'provider';
  v_wait interval := (select a.throttled_until - millrace.now() from millrace.api_rate_limits a
                       where a.provider_name = millrace.payee(v_provider) and a.api_endpoint = substr(v_provider, strpos(v_provider, ':') + 1));
  v_room jsonb;
  v_capacity jsonb;
  v_requests integer := (p_call #>> '{room,requests}')::integer;
  v_claimed bigint := 0;
  v_tokens bigint;
  v_answer jsonb;
begin
  if v_tenant is null then
    raise exception 'job % does not exist', p_call ->> 'job_id' using errcode = 'MR009';
  end if;
  if v_call is not null then
    -- Who repeats it while the first is still under way waits for that.
    perform pg_advisory_xact_lock(hashtextextended(v_call::text, 7082));
  end if;
  if p_call ? 'room' then
    perform millrace.hold_lease((p_call ->> 'job_id')::uuid, (p_call #>> '{room,token}')::uuid);
  end if;
  if v_call is not null then
    select c.* into v_known from millrace.provider_call c
     where c.call_id = v_call and c.job_id = (p_call ->> 'job_id')::uuid and c.generation = coalesce((p_call ->> 'generation')::integer, 1) and c.state = 'sent';
    if found then
      return jsonb_strip_nulls(jsonb_build_object('allowed', true, 'call_id', v_call, 'capacity', v_known.capacity));
    end if;
  end if;
  if v_wait > interval '0' then
    return jsonb_build_object('allowed', false, 'retry_ms', ceil(extract(epoch from least(v_wait, interval '10 minutes')) * 1000));
  end if;
  -- Limits before money, as everywhere (docs/architecture.md).
  if p_call ? 'room' then
    if not exists (select from millrace.provider_slot s join millrace.api_rate_limits a on a.provider_id = s.provider_id
                    where s.job_id = (p_call ->> 'job_id')::uuid and s.token = (p_call #>> '{room,token}')::uuid and not s.own
                      and a.provider_name = millrace.payee(v_provider) and a.api_endpoint = substr(v_provider, strpos(v_provider, ':') + 1)) then
      v_requests := greatest(1, v_requests);
    elsif (p_call #>> '{room,claimed_tokens}')::boolean then
      v_claimed := coalesce((select greatest(1, j.estimated_tokens) from millrace.job_fact j where j.job_id = (p_call ->> 'job_id')::uuid), 1);
    end if;
    v_tokens := least((p_call ->> 'estimated_tokens')::bigint, (select millrace.token_limit(a.provider_id) from millrace.api_rate_limits a
                        where a.provider_name = millrace.payee(v_provider) and a.api_endpoint = substr(v_provider, strpos(v_provider, ':') + 1))) - v_claimed;
    if v_requests > 0 or v_tokens > 0 then
      v_room := millrace.take_capacity((p_call ->> 'job_id')::uuid, (p_call #>> '{room,token}')::uuid, v_requests, v_tokens, v_provider);
      if not (v_room ->> 'granted')::boolean then
        return v_room - 'granted' || '{"allowed": false}';
      end if;
    end if;
  end if;
  v_capacity := v_room -> 'capacity' || jsonb_build_object('claimed', v_claimed);
  v_answer := millrace.reserve_call(v_tenant, p_call || jsonb_build_object('capacity', v_capacity));
  if v_room is not null and not (v_answer ->> 'allowed')::boolean then
    perform millrace.give_capacity(v_room -> 'capacity');
  elsif v_room is not null then
    v_answer := v_answer || jsonb_build_object('capacity', v_capacity);
  end if;
  return v_answer;
end;
$$;
