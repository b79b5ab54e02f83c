-- millrace.limit_fields: the values of a provider limit that people may set, their kinds and bounds
-- (seconds for durations).
create or replace function millrace.limit_fields()
  returns table (field text, kind text, low numeric, high numeric, nullable boolean,
                 overridable boolean)
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  values ('requests_per_minute', 'limit', -1, 2147483647, true, true),
         ('requests_per_hour', 'limit', -1, 2147483647, true, true),
         ('tokens_per_minute', 'limit', -1, 9000000000000000, true, true),
         ('tokens_per_hour', 'limit', -1, 9000000000000000, true, true),
         ('concurrent_requests', 'limit', -1, 1000000, true, true),
         ('status', 'status', null, null, false, true),
         ('minute_window', 'duration', 1, 86400, false, false),
         ('hour_window', 'duration', 1, 2678400, false, false),
         ('slot_lease', 'duration', 1, 86400, false, false),
         ('breaker_cooldown', 'duration', 0.001, 86400, false, false),
         ('breaker_threshold', 'number', 1, 1000000, false, false),
         ('backpressure_threshold', 'fraction', 0, 1, false, false),
         ('backpressure_delay_seconds', 'number', 0, 86400, false, false),
         ('queue_depth_limit', 'number', 0, 2147483647, true, false)
$$;
