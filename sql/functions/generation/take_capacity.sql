-- millrace.take_capacity: room for a call of a held job at a provider: p_requests (0: the call of the claim itself, if that took one there; else it is one more) and the tokens of the call, all or nothing (L-04). Answers granted, and either buckets (for
-- millrace.end_call, which settles the tokens) or tokens_room and retry_ms. A call that is larger than a whole window is charged as one window (as millrace.page_tokens does).
-- p_provider: whose limits count ('openai:gpt-4o-mini'; without a limit row it gets the default one); null: those of the job's type, and none where it is bound to nobody. Where its claim took no slot,
-- as at a provider that its type is not bound to, or was not then, the job gets one of its own with the first request, which ends with its lease or its settlement.
drop function if exists millrace.take_capacity(uuid, uuid, integer, bigint);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.take_capacity(p_job_id uuid, p_token uuid, p_requests integer, p_tokens bigint, p_provider text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_bound text := (select t.provider_name || ':' || t.api_endpoint from millrace.job_fact j join millrace.job_type t on t.type_id = j.type_id where j.job_id = p_job_id);
  v_name text := coalesce(p_provider, v_bound);
  v_endpoint text := substr(v_name, strpos(v_name, ':') + 1);
  v_provider integer;
  v_room record;
  v_charge record;
  v_cost bigint;
  v_requests boolean;
  v_slot boolean;  -- Has it one there, of the claim or of its own?
  v_charged integer;
begin
  perform millrace.hold_lease(p_job_id, p_token);
  if v_name is null then
    return '{"granted": true}';
  end if;
  if not exists (select from millrace.api_rate_limits a where a.provider_name = millrace.payee(v_name) and a.api_endpoint = v_endpoint) then
    insert into millrace.api_rate_limits (provider_name, api_endpoint) values (millrace.payee(v_name), v_endpoint) on conflict (provider_name, api_endpoint) do nothing;
  end if;
  select a.provider_id into strict v_provider from millrace.api_rate_limits a where a.provider_name = millrace.payee(v_name) and a.api_endpoint = v_endpoint;
  v_slot := exists (select from millrace.provider_slot s where s.provider_id = v_provider and s.job_id = p_job_id and s.token = p_token);
  if v_slot and p_requests = 0 and p_tokens = 0 then
    return '{"granted": true}';
  end if;
  perform from millrace.api_rate_limits a where a.provider_id = v_provider for no key update;
  v_cost := greatest(1, least(p_tokens, millrace.token_limit(v_provider)));
  -- Room is asked for first: it removes slots of those who are gone.
  select r.* into v_room from millrace.capacity_room(v_provider) r;
  -- Where it has a slot and only slots are used up (time alone would bring no room), it needs no other one. A breaker that is not closed lets nobody through but its probe.
  v_requests := v_room.requests >= case when v_slot then p_requests else greatest(p_requests, 1) end
                or (v_slot and v_room.retry_at is null and exists (select from millrace.api_rate_limits a where a.provider_id = v_provider and a.breaker_state = 'closed'));
  if not v_requests or v_room.tokens < v_cost then
    return jsonb_build_object('granted', false, 'tokens_room', case when v_requests then v_room.tokens else 0 end,
      -- Without a time it is a settlement that brings room: asked again soon.
      'retry_ms', greatest(50, ceil(extract(epoch from least(coalesce(v_room.retry_at, millrace.now() + interval '1 second'), millrace.now() + interval '10 minutes') - millrace.now()) * 1000)));
  end if;
  v_charged := case when v_slot then p_requests else greatest(p_requests, 1) end;
  select c.* into v_charge from millrace.capacity_charge(v_provider, v_charged, v_cost) c;
  if not v_slot then
    insert into millrace.provider_slot (provider_id, job_id, token, worker_id, acquired_at, lease_until, estimated_tokens, minute_bucket, hour_bucket, own)
    select v_provider, l.job_id, l.token, l.worker_id, v_charge.at, l.lease_until, 1, v_charge.minute_bucket, v_charge.hour_bucket, true
      from millrace.lease l where l.job_id = p_job_id and l.token = p_token;
    perform millrace.show_capacity(v_provider, v_charge.at, true);
  end if;
  return jsonb_build_object('granted', true, 'capacity', jsonb_build_object('provider_id', v_provider, 'minute_bucket', v_charge.minute_bucket, 'hour_bucket', v_charge.hour_bucket,
    'tokens', v_cost, 'requests', v_charged));
end;
$$;
