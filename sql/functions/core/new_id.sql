-- millrace.new_id: uuid v7, 48 bits of milliseconds and 74 random ones. Ranges of ids are ranges of time, which is what
-- the partitions of facts and history are cut by. Bound when it is created, and so small enough to be inlined.
create or replace function millrace.new_id() returns uuid
  language sql volatile parallel safe
  return encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from millrace.now()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid;
