-- millrace.id_time: the instant a uuid v7 was made.
create or replace function millrace.id_time(p_id uuid) returns timestamptz
  language sql immutable parallel safe
  return to_timestamp(('x0000' || encode(substring(uuid_send(p_id) from 1 for 6), 'hex'))::bit(64)::bigint / 1000.0);
