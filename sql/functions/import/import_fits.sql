-- millrace.import_fits: whether a payload is within the limit of a job. Larger ones are not even carried along.
create or replace function millrace.import_fits(p_payload jsonb) returns boolean
  language sql immutable parallel safe
  return p_payload is null or pg_column_size(p_payload) <= 65536 or octet_length(p_payload::text) <= 262144;
