-- millrace.partition_start: the start of the partition of this length that a moment lies in.
create or replace function millrace.partition_start(p_at timestamptz, p_step interval) returns timestamptz
  language sql immutable parallel safe
  return to_timestamp(floor(extract(epoch from p_at) / extract(epoch from p_step)) * extract(epoch from p_step));
