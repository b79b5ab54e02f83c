-- millrace.take_capacity: room at the provider of a held job for a call more than the one that its claim took: p_requests (0: the call of the claim itself) and the tokens of the call, all or
-- nothing (L-04). The slot is the job's own. Answers granted, and either buckets (for millrace.end_call, which settles the tokens) or tokens_room and retry_ms. A job type without a provider
-- has no limit. A call that is larger than a whole window is charged as one window (as millrace.page_tokens does).
create or replace function millrace.take_capacity(p_job_id uuid, p_token uuid, p_requests integer, p_tokens bigint) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_provider integer;
  v_room record;
  v_charge record;
  v_cost bigint;
  v_requests boolean;
begin
  perform from millrace.lease l where l.job_id = p_job_id and l.token = p_token for key share;
  if not found then
    raise exception 'job % is not held by this lease', p_job_id using errcode = 'MR001';
  end if;
  select a.provider_id into v_provider from millrace.job_fact j join millrace.job_type t on t.type_id = j.type_id
    join millrace.api_rate_limits a on a.provider_name = t.provider_name and a.api_endpoint = t.api_endpoint
   where j.job_id = p_job_id for no key update of a;
  if not found then
    return '{"granted": true}';
  end if;
  v_cost := greatest(1, least(p_tokens, millrace.token_limit(v_provider)));
  select r.* into v_room from millrace.capacity_room(v_provider) r;
  -- The slot is the job's own: where only slots are used up (time alone would bring no room), it needs no other one. A breaker that is not closed lets nobody through but its probe.
  v_requests := v_room.requests >= p_requests or (v_room.retry_at is null and exists (select from millrace.api_rate_limits a where a.provider_id = v_provider and a.breaker_state = 'closed'));
  if not v_requests or v_room.tokens < v_cost then
    return jsonb_build_object('granted', false, 'tokens_room', case when v_requests then v_room.tokens else 0 end,
      -- Without a time it is a settlement that brings room: asked again soon.
      'retry_ms', greatest(50, ceil(extract(epoch from least(coalesce(v_room.retry_at, millrace.now() + interval '1 second'), millrace.now() + interval '10 minutes') - millrace.now()) * 1000)));
  end if;
  select c.* into v_charge from millrace.capacity_charge(v_provider, p_requests, v_cost) c;
  return jsonb_build_object('granted', true, 'capacity', jsonb_build_object('provider_id', v_provider, 'minute_bucket', v_charge.minute_bucket, 'hour_bucket', v_charge.hour_bucket,
    'tokens', v_cost));
end;
$$;
