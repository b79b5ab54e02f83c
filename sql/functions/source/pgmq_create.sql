-- millrace.pgmq_create: makes a queue of messages (X-29) where there is none: a queue and a job type "pgmq.<name>". A message that was read and not deleted comes back
-- as often as it takes: a thousand deliveries is the most that a queue has.
create or replace function millrace.pgmq_create(p_queue_name text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_name text := 'pgmq.' || lower(p_queue_name);
begin
  if coalesce(p_queue_name, '') !~ '^[A-Za-z0-9_]{1,47}$' then
    raise exception 'p_queue_name must have 1 to 47 letters, digits or _' using errcode = 'MR017';
  end if;
  if exists (select from millrace.job_type t where t.job_type = v_name) then
    return;
  end if;
  perform millrace.set_queue(v_name, '{"max_attempts": 1000, "reclaim_jitter": 0}');
  perform millrace.set_job_type(v_name, jsonb_build_object('queue', v_name));
end;
$$;
