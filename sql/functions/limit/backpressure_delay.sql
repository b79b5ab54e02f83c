-- millrace.backpressure_delay: how much later a new job of a provider should start:
-- backpressure_delay_seconds while more than backpressure_threshold of the requests or tokens of a
-- minute are used (L-14), else zero. An absent limit is never used up, a limit of zero always.
-- Reads without a lock: a hint.
create or replace function millrace.backpressure_delay(p_provider_id integer) returns interval
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_limit record;
  v_used record;
begin
  select p.minute_window, p.hour_window, p.last_grant_at, p.backpressure_threshold,
         p.backpressure_delay_seconds
    into v_row from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  if not found then
    return interval '0';
  end if;
  select e.* into v_limit from millrace.effective_limit(p_provider_id) e;
  select u.* into v_used
    from millrace.provider_usage(p_provider_id, greatest(millrace.now(), v_row.last_grant_at),
                                 v_row.minute_window, v_row.hour_window) u;
  if 0 in (v_limit.requests_per_minute, v_limit.tokens_per_minute)
     or v_used.requests_minute > v_row.backpressure_threshold * v_limit.requests_per_minute
     or v_used.tokens_minute > v_row.backpressure_threshold * v_limit.tokens_per_minute then
    return make_interval(secs => v_row.backpressure_delay_seconds);
  end if;
  return interval '0';
end;
$$;
