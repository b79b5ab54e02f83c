-- millrace.import_payload: what a source hands to its handlers as the payload of a job: an object as it is, anything else, and the empty
-- object, as {"data": ...}.
create or replace function millrace.import_payload(p_data jsonb) returns jsonb
  language sql immutable parallel safe
  return case when jsonb_typeof(p_data) = 'object' and p_data <> '{}'::jsonb then p_data
              else jsonb_build_object('data', coalesce(p_data, 'null'::jsonb)) end;
