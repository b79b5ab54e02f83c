-- millrace.limits_overview: every provider for people: configured and effective limits (null:
-- unlimited), what the windows hold at this moment, who blocks it and how many jobs wait for it
-- (counted up to 10000).
create or replace function millrace.limits_overview()
  returns table (
    provider_id integer, provider_name text, api_endpoint text, status text,
    requests_per_minute bigint, requests_per_hour bigint, tokens_per_minute bigint,
    tokens_per_hour bigint, concurrent_requests bigint,
    effective_requests_per_minute bigint, effective_requests_per_hour bigint,
    effective_tokens_per_minute bigint, effective_tokens_per_hour bigint,
    effective_concurrent_requests bigint,
    overridden boolean, override_reason text, override_by text, override_expires_at timestamptz,
    used_requests_minute bigint, used_requests_hour bigint, used_tokens_minute bigint,
    used_tokens_hour bigint, active_slots bigint,
    breaker_state text, breaker_until timestamptz, breaker_reason text,
    throttled_until timestamptz, rate_limit_violations bigint, last_rate_limit_hit timestamptz,
    waiting_jobs bigint, queue_depth_limit integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
begin
  return query
  select p.provider_id, p.provider_name, p.api_endpoint, e.status,
         p.requests_per_minute::bigint, p.requests_per_hour::bigint, p.tokens_per_minute,
         p.tokens_per_hour, p.concurrent_requests::bigint,
         e.requests_per_minute, e.requests_per_hour, e.tokens_per_minute, e.tokens_per_hour,
         e.concurrent_requests,
         e.overridden, case when e.overridden then o.reason end,
         case when e.overridden then o.set_by end,
         case when e.overridden then o.expires_at end,
         u.requests_minute, u.requests_hour, u.tokens_minute, u.tokens_hour,
         (select coalesce(sum(s.jobs), 0) from millrace.provider_slot s
           where s.provider_id = p.provider_id
             and case when s.claim_id is not null
                      then exists (select from millrace.claim_open o where o.claim_id = s.claim_id)
                      when s.job_id is null then s.lease_until > v_now
                      else exists (select from millrace.lease l
                                    where l.job_id = s.job_id and l.token = s.token) end),
         case when p.breaker_state = 'open' and p.breaker_until <= v_now then 'half_open'
              else p.breaker_state end,
         p.breaker_until, p.breaker_reason,
         case when p.throttled_until > v_now then p.throttled_until end,
         p.rate_limit_violations, p.last_rate_limit_hit,
         millrace.provider_waiting(p.provider_id, 10000), p.queue_depth_limit
    from millrace.api_rate_limits p
    cross join lateral millrace.effective_limit(p.provider_id) e
    cross join lateral millrace.provider_usage(p.provider_id, greatest(v_now, p.last_grant_at),
                                               p.minute_window, p.hour_window) u
    left join millrace.api_rate_limit_override o
      on o.provider_name = p.provider_name and o.api_endpoint = p.api_endpoint
   order by p.provider_name, p.api_endpoint;
end;
$$;
