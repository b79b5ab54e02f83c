-- millrace.blob_lock: the advisory lock between those who refer to a key of the blob store (they share it) and those who mark it for removal (who only
-- try it). Keys share 2048 locks, so that a settlement with a thousand artifacts cannot fill the server's lock table.
create or replace function millrace.blob_lock(p_store_key text) returns bigint
  language sql immutable parallel safe
  return 7081 * 4096 + (hashtextextended(p_store_key, 7081) & 2047);
