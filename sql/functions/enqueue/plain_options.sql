-- millrace.plain_options: options that the short way of millrace.enqueue_plain takes: none, or queue and priority as they must be.
create or replace function millrace.plain_options(p_options jsonb) returns boolean
  language sql immutable parallel safe
  return p_options is null or case when jsonb_typeof(p_options) = 'object' then
    p_options - '{queue,priority}'::text[] = '{}' and coalesce(jsonb_typeof(p_options -> 'queue'), 'string') = 'string'
    and coalesce(jsonb_typeof(p_options -> 'priority'), 'number') = 'number' and coalesce(p_options ->> 'priority', '0') ~ '^[0-9]{1,4}$' else false end;
