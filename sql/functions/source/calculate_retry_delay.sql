-- millrace.calculate_retry_delay: seconds an export waits after its n-th attempt, without jitter: 60 doubling to 3600. Pure.
create or replace function millrace.calculate_retry_delay(p_attempt integer) returns integer
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$ select least(60 * (2 ^ least(greatest(p_attempt, 1) - 1, 6))::integer, 3600) where p_attempt is not null $$;
