-- millrace.spec_fields: the fields of a job in JSON and their types.
create or replace function millrace.spec_fields() returns table (field text, wanted text)
  language sql immutable parallel safe
begin atomic
  values ('job_type', 'string'), ('payload', 'object'), ('queue', 'string'), ('priority', 'number'), ('delay_seconds', 'number'),
         ('scheduled_at', 'string'), ('job_name', 'string'), ('job_category', 'string'), ('owner_id', 'string'), ('dedupe_key', 'string'),
         ('dedupe_keep_seconds', 'number'), ('serial_key', 'string'), ('concurrency_key', 'string'), ('idempotency_key', 'string'),
         ('correlation_id', 'string'), ('traceparent', 'string'), ('pipeline', 'string'), ('stage', 'string'), ('batch_id', 'string'),
         ('parent_id', 'string'), ('after', 'object'), ('max_attempts', 'number'), ('run_timeout_seconds', 'number'),
         ('start_deadline', 'string'), ('start_within_seconds', 'number'), ('id', 'string');
end;
