-- millrace.backoff_delay: how long a job of this queue waits after its n-th failure: base times factor to the n-1, capped, times a
-- number drawn for this call alone from the queue's jitter range.
create or replace function millrace.backoff_delay(p_queue_id smallint, p_failures integer) returns interval
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select least(q.backoff_cap, q.backoff_base * power(q.backoff_factor, least(p_failures - 1, 64))::double precision)
         * (q.jitter_low + (q.jitter_high - q.jitter_low) * random()::numeric)::double precision
    from millrace.queue q where q.queue_id = p_queue_id
$$;
