-- millrace.capacity_room: how many requests and tokens a provider may be granted at this instant.
-- The caller holds the provider row, so the answer is true until it commits: time only makes room.
-- requests is 0 while the provider is switched off, throttled or behind an open breaker, at most 1
-- while the breaker is half open and no probe is in flight. Unlimited is the largest number of the
-- type.
-- retry_at is when time alone may bring more room; null when only a release or settlement can.
create or replace function millrace.capacity_room(
    p_provider_id integer, out requests integer, out tokens bigint, out retry_at timestamptz)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_limit record;
  v_used record;
  v_at timestamptz;
  v_probing boolean;
  v_active bigint;
  v_probes bigint;
  v_minute timestamptz;
  v_hour timestamptz;
begin
  requests := 0;
  tokens := 0;
  select p.last_grant_at, p.minute_window, p.hour_window, p.throttled_until, p.breaker_state,
         p.breaker_until
    into v_row from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  select e.* into v_limit from millrace.effective_limit(p_provider_id) e;
  v_at := greatest(millrace.now(), v_row.last_grant_at);
  if v_limit.status is distinct from 'active' then
    retry_at := 'infinity';
    return;
  end if;
  v_probing := v_row.breaker_state <> 'closed';
  if v_row.throttled_until > v_at
     or (v_row.breaker_state = 'open' and v_row.breaker_until > v_at) then
    retry_at := greatest(v_row.throttled_until,
                         case when v_row.breaker_state = 'open' then v_row.breaker_until end);
    return;
  end if;

  perform millrace.sweep_slots(p_provider_id, v_at);
  select coalesce(sum(s.jobs), 0), coalesce(sum(s.jobs) filter (where s.acquired_at >= v_row.breaker_until), 0)
    into v_active, v_probes
    from millrace.provider_slot s where s.provider_id = p_provider_id;
  select u.* into v_used
    from millrace.provider_usage(p_provider_id, v_at, v_row.minute_window, v_row.hour_window) u;
  -- least() ignores nulls, which is exactly what an absent limit means.
  requests := greatest(0, least(2147483647,
    v_limit.requests_per_minute - v_used.requests_minute,
    v_limit.requests_per_hour - v_used.requests_hour,
    v_limit.concurrent_requests - v_active, case when v_probing then 1 - v_probes end));
  tokens := greatest(0, least(9223372036854775807,
    v_limit.tokens_per_minute - v_used.tokens_minute,
    v_limit.tokens_per_hour - v_used.tokens_hour));

  v_minute := millrace.bucket_start(v_used.oldest_minute + 61, v_row.minute_window);
  v_hour := millrace.bucket_start(v_used.oldest_hour + 61, v_row.hour_window);
  if least(v_limit.requests_per_minute - v_used.requests_minute,
           v_limit.tokens_per_minute - v_used.tokens_minute) <= 0 then
    retry_at := v_minute;
  end if;
  if least(v_limit.requests_per_hour - v_used.requests_hour,
           v_limit.tokens_per_hour - v_used.tokens_hour) <= 0 then
    retry_at := greatest(retry_at, v_hour);
  end if;
  if retry_at is null and requests > 0 then
    retry_at := least(
      case when num_nonnulls(v_limit.requests_per_minute, v_limit.tokens_per_minute) > 0
           then v_minute end,
      case when num_nonnulls(v_limit.requests_per_hour, v_limit.tokens_per_hour) > 0
           then v_hour end);
  end if;
end;
$$;
