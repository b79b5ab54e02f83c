-- millrace.id_at: the smallest uuid v7 of an instant; bounds of partitions.
create or replace function millrace.id_at(p_at timestamptz) returns uuid
  language sql immutable parallel safe
  return (encode(substring(int8send(floor(extract(epoch from p_at) * 1000)::bigint) from 3), 'hex')
          || '00000000000000000000')::uuid;
