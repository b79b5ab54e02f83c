-- millrace.error_text: what an error says, for the sources' columns of one line.
create or replace function millrace.error_text(p_error jsonb) returns text
  language sql immutable parallel safe
  return case when p_error ->> 'error_type' = 'worker_timeout' then 'Job timed out'
              else coalesce(p_error ->> 'message', p_error ->> 'error_message', p_error ->> 'error',
                            p_error ->> 'reschedule_reason', p_error ->> 'error_type') end;
