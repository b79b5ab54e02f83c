-- millrace.turn_lock: the advisory lock of whoever claims jobs with keys from one group. Groups share 1024 locks, as keys do
-- (millrace.key_lock).
create or replace function millrace.turn_lock(p_queue_id smallint, p_type_id smallint, p_tenant uuid, p_priority smallint) returns bigint
  language sql immutable parallel safe
  return 7076 * 4096 + (hashtextextended(p_tenant::text || ':' || p_queue_id::text || ':' || p_type_id::text || ':' || p_priority::text, 7076) & 1023);
