-- millrace.fingerprint: failures that differ only in ids and numbers get the same short code, for grouping dead letters.
create or replace function millrace.fingerprint(p_error jsonb) returns text
  language sql immutable parallel safe
  return left(md5(coalesce(p_error ->> 'error_type', '') || E'\n' ||
    regexp_replace(left(coalesce(p_error ->> 'message', p_error ->> 'error_message', p_error ->> 'error', p_error ->> 'dead_letter_reason', ''), 500),
                   '[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|0x[0-9a-fA-F]+|[0-9]+', '#', 'g')), 12);
