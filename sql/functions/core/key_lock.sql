-- millrace.key_lock: the advisory lock under which a serial or concurrency key is judged. Keys share 2048 locks, so that a claim of
-- thousands of keys cannot fill the server's lock table; two keys with one lock are in each other's way as if they were one.
create or replace function millrace.key_lock(p_tenant uuid, p_queue_id smallint, p_key text) returns bigint
  language sql immutable parallel safe
  return 7077 * 4096 + (hashtextextended(p_tenant::text || ':' || p_queue_id::text || ':' || p_key, 7077) & 2047);
