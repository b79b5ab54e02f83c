-- millrace.position_of: the position (from 0) of a claim's token.
create or replace function millrace.position_of(p_token uuid) returns integer
  language sql immutable parallel safe return get_byte(uuid_send(p_token), 14) * 256 + get_byte(uuid_send(p_token), 15);
