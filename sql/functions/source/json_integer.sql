-- millrace.json_integer: a number of a JSON object as integer; null where it is none, so that no result can break a view.
create or replace function millrace.json_integer(p_object jsonb, p_key text) returns integer
  language sql immutable parallel safe
  return case when jsonb_typeof(p_object -> p_key) = 'number'
              then case when (p_object ->> p_key)::numeric between -2147483648 and 2147483647
                        then (p_object ->> p_key)::numeric::integer end end;
