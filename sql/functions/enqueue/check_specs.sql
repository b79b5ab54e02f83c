-- millrace.check_specs: raises for the first job of the list that breaks a rule; the message names the field and, in a list, the
-- position. Nothing has been written when it raises.
create or replace function millrace.check_specs(p_specs millrace.job_spec[], p_tenant uuid) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
  v_now timestamptz := millrace.now();
begin
  select s.ord, e.code, e.message into v_bad
    from unnest(p_specs) s
    left join millrace.job_type t on t.job_type = s.job_type
    left join millrace.queue q on q.queue = s.queue
    cross join lateral (
      select case
          when s.job_type is null then 'MR002'
          when t.type_id is null or not t.enabled then 'MR002'
          when s.payload is null or s.payload = '{}'::jsonb or s.payload = 'null'::jsonb then 'MR003'
          when jsonb_typeof(s.payload) <> 'object' then 'MR003'
          when not s.payload ?& t.required_keys then 'MR003'
          when pg_column_size(s.payload) > 65536 and octet_length(s.payload::text) > 262144 then 'MR004'
          when s.payload ? 'estimated_tokens' and (jsonb_typeof(s.payload -> 'estimated_tokens') <> 'number'
               or (s.payload ->> 'estimated_tokens')::numeric > 2147483647) then 'MR003'
          when s.queue is not null and q.queue_id is null then 'MR007'
          when s.priority not between 0 and 1000 then 'MR005'
          when s.scheduled_at > v_now + interval '10 years' then 'MR006'
          when s.start_deadline <= greatest(v_now, s.scheduled_at) then 'MR006'
          when s.max_attempts not between 1 and 1000 then 'MR024'
          when s.run_timeout < interval '10 milliseconds' or s.run_timeout > interval '7 days' then 'MR024'
          when s.dedupe_keep < interval '0' or s.dedupe_keep > interval '365 days' then 'MR024'
          when s.dedupe_key = '' or octet_length(s.dedupe_key) > 1024 then 'MR024'
          when s.serial_key = '' or octet_length(s.serial_key) > 1024 then 'MR024'
          when s.concurrency_key = '' or octet_length(s.concurrency_key) > 1024 then 'MR024'
          when s.serial_key is not null and s.concurrency_key is not null then 'MR024'
          when s.idempotency_key = '' or octet_length(s.idempotency_key) > 1024 then 'MR024'
          when octet_length(s.job_name) > 1024 or octet_length(s.correlation_id) > 1024
               or octet_length(s.traceparent) > 1024 then 'MR024'
          when s.after_mode not in ('all', 'any') or s.after_failure not in ('cancel', 'run') then 'MR019'
          when cardinality(s.after_jobs) > 1000 or s.id = any (s.after_jobs) then 'MR019'
        end as code,
        case
          when s.job_type is null then 'job_type is required'
          when t.type_id is null or not t.enabled then format('Invalid job_type. Allowed: %s', millrace.allowed_job_types())
          when s.payload is null or s.payload = '{}'::jsonb or s.payload = 'null'::jsonb then 'job_payload cannot be empty'
          when jsonb_typeof(s.payload) <> 'object' then 'job_payload must be a JSON object'
          when not s.payload ?& t.required_keys then coalesce(t.required_message,
               format('%s jobs require %s in payload', s.job_type, array_to_string(t.required_keys, ', ')))
          when pg_column_size(s.payload) > 65536 and octet_length(s.payload::text) > 262144
            then format('job_payload is %s bytes, the limit is 262144', octet_length(s.payload::text))
          when s.payload ? 'estimated_tokens' and (jsonb_typeof(s.payload -> 'estimated_tokens') <> 'number'
               or (s.payload ->> 'estimated_tokens')::numeric > 2147483647)
            then 'job_payload.estimated_tokens must be a number of at most 2147483647'
          when s.queue is not null and q.queue_id is null then format('queue %s does not exist', quote_literal(s.queue))
          when s.priority not between 0 and 1000 then format('priority must be between 0 and 1000, got %s', s.priority)
          when s.scheduled_at > v_now + interval '10 years' then 'scheduled_at must be less than 10 years ahead'
          when s.start_deadline <= greatest(v_now, s.scheduled_at) then 'start_deadline must be later than the due time'
          when s.max_attempts not between 1 and 1000 then 'max_attempts must be between 1 and 1000'
          when s.run_timeout < interval '10 milliseconds' or s.run_timeout > interval '7 days'
            then 'run_timeout must be between 10 ms and 7 days'
          when s.dedupe_keep < interval '0' or s.dedupe_keep > interval '365 days'
            then 'dedupe_keep_seconds must be between 0 and 365 days'
          when s.serial_key is not null and s.concurrency_key is not null
            then 'serial_key and concurrency_key exclude each other'
          when s.after_mode not in ('all', 'any') then 'after.mode must be all or any'
          when s.after_failure not in ('cancel', 'run') then 'after.on_failure must be cancel or run'
          when s.id = any (s.after_jobs) then 'after.jobs must not name the job itself'
          when cardinality(s.after_jobs) > 1000 then 'after.jobs must name at most 1000 jobs'
          else 'dedupe_key, serial_key, concurrency_key, idempotency_key, job_name, correlation_id and traceparent '
               'must have 1 to 1024 bytes'
        end as message) e
   where e.code is not null
   order by s.ord
   limit 1;
  if found then
    raise exception '%', case when cardinality(p_specs) > 1 then format('job %s: %s', v_bad.ord, v_bad.message) else v_bad.message end
      using errcode = v_bad.code;
  end if;

  select s.ord, a.job_id into v_bad
    from unnest(p_specs) s cross join lateral unnest(s.after_jobs) a(job_id)
   where not exists (select from millrace.job_fact f where f.job_id = a.job_id and f.tenant_id = p_tenant)
     and not exists (select from unnest(p_specs) o where o.id = a.job_id and o.ord < s.ord)
   order by s.ord limit 1;
  if found then
    -- Only what stands earlier in the list can be waited for, so jobs cannot wait for each other in a circle.
    raise exception 'after.jobs names job %, which neither exists nor stands earlier in the list', v_bad.job_id
      using errcode = 'MR019';
  end if;
end;
$$;
