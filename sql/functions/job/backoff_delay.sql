-- millrace.backoff_delay: how long a job of this queue waits after its n-th failure: base times factor to the n-1, capped, times a
-- number drawn for this call alone from the queue's jitter range.
create or replace function millrace.backoff_delay(p_queue_id smallint, p_failures integer) returns interval
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  -- In seconds until it is capped: an interval cannot hold what a large factor makes of the exponent.
  return (
    select make_interval(secs => least(extract(epoch from q.backoff_cap)::double precision,
                                       extract(epoch from q.backoff_base)::double precision
                                         * power(q.backoff_factor::double precision, least(p_failures - 1, 64)))
                                 * (q.jitter_low + (q.jitter_high - q.jitter_low) * random()::numeric)::double precision)
      from millrace.queue q where q.queue_id = p_queue_id);
end;
$$;
