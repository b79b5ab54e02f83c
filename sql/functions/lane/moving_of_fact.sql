-- millrace.moving_of_fact: a job of a lane, on its first delivery, as a row on its way somewhere else.
create or replace function millrace.moving_of_fact(p_fact millrace.job_fact, p_token uuid, p_worker_id text, p_started_at timestamptz) returns millrace.moving
  language sql volatile
  return row(p_fact.job_id, p_fact.tenant_id, p_fact.queue_id, p_fact.type_id, p_fact.priority, p_fact.flags, 1, 0, 1, 0, 0, 0, p_fact.created_at, null, p_token,
             p_worker_id, p_started_at, null, nextval('millrace.ready_seq'), 0, null, null, null, null, null, null, null, null, null, null, null, null, null)::millrace.moving;
