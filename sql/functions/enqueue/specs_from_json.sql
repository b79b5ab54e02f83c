-- millrace.specs_from_json: reads a JSON array (or object) of jobs. Unknown fields and wrong types are refused by name; a delay
-- becomes a due time by the database's clock.
create or replace function millrace.specs_from_json(p_jobs jsonb) returns millrace.job_spec[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_list jsonb := case jsonb_typeof(p_jobs) when 'object' then jsonb_build_array(p_jobs) else p_jobs end;
  v_bad record;
  v_now timestamptz := millrace.now();
begin
  if v_list is null or jsonb_typeof(v_list) <> 'array' then
    raise exception 'jobs must be a JSON array of objects' using errcode = 'MR024';
  end if;
  select j.i, coalesce(k.key, '') as key, jsonb_typeof(j.job) as kind, jsonb_typeof(k.value) as got, r.wanted into v_bad
    from jsonb_array_elements(v_list) with ordinality j(job, i)
    left join lateral jsonb_each(case jsonb_typeof(j.job) when 'object' then j.job else '{}' end) k on true
    left join millrace.spec_fields() r on r.field = k.key
   where jsonb_typeof(j.job) <> 'object'
      or (k.key is not null and (r.field is null
          or (k.key not in ('payload') and jsonb_typeof(k.value) <> 'null' and jsonb_typeof(k.value) <> r.wanted)))
   order by j.i limit 1;
  if found then
    raise exception '%', case when v_bad.kind <> 'object' then format('job %s must be a JSON object', v_bad.i)
                              when v_bad.wanted is null then format('job %s: unknown field %s', v_bad.i, v_bad.key)
                              else format('job %s: %s must be a %s, not a %s', v_bad.i, v_bad.key, v_bad.wanted, v_bad.got) end
      using errcode = 'MR024';
  end if;
  select j.i, f.message, f.code into v_bad
    from jsonb_array_elements(v_list) with ordinality j(job, i)
    cross join lateral (
      select case when (j.job ->> 'delay_seconds')::numeric < 0 then 'delay_seconds must not be negative'
                  when (j.job ->> 'delay_seconds')::numeric > 315360000 then 'delay_seconds must be less than 10 years'
                  when (j.job ->> 'start_within_seconds')::numeric not between 0.001 and 315360000
                    then 'start_within_seconds must be positive and less than 10 years'
                  when (j.job ->> 'delay_seconds') is not null and (j.job ->> 'scheduled_at') is not null
                    then 'delay_seconds and scheduled_at exclude each other' end, 'MR006'
       union all
      select case when (j.job ->> 'priority')::numeric not between 0 and 1000 or (j.job ->> 'priority')::numeric % 1 <> 0
                    then format('priority must be a whole number between 0 and 1000, got %s', j.job ->> 'priority') end, 'MR005'
       union all
      select case when (j.job ->> 'max_attempts')::numeric not between 1 and 1000 or (j.job ->> 'max_attempts')::numeric % 1 <> 0
                    then 'max_attempts must be a whole number between 1 and 1000'
                  when abs((j.job ->> 'run_timeout_seconds')::numeric) > 604800 then 'run_timeout_seconds must be between 0.01 and 604800'
                  when abs((j.job ->> 'dedupe_keep_seconds')::numeric) > 31536000
                    then 'dedupe_keep_seconds must be between 0 and 365 days' end, 'MR024'
       union all
      select format('%s must be a uuid', u.key), 'MR024'
        from jsonb_each_text(j.job) u
       where u.key in ('id', 'owner_id', 'batch_id', 'parent_id') and u.value is not null and millrace.uuid_or_null(u.value) is null
       union all
      select 'after.jobs must be an array of 1 to 1000 job ids', 'MR019'
       where jsonb_typeof(j.job -> 'after') = 'object'
         and (jsonb_typeof(j.job #> '{after,jobs}') is distinct from 'array' or jsonb_array_length(j.job #> '{after,jobs}') = 0
              or exists (select from jsonb_array_elements(j.job #> '{after,jobs}') e
                          where jsonb_typeof(e) <> 'string' or millrace.uuid_or_null(e #>> '{}') is null))) f(message, code)
   where f.message is not null
   order by j.i limit 1;
  if found then
    raise exception '%', case when jsonb_array_length(v_list) > 1 then format('job %s: %s', v_bad.i, v_bad.message) else v_bad.message end
      using errcode = v_bad.code;
  end if;
  return array(
    select (j.i, millrace.uuid_or_null(j.job ->> 'id'), j.job ->> 'job_type', j.job ->> 'queue', j.job -> 'payload',
            j.job ->> 'job_name', j.job ->> 'job_category', millrace.uuid_or_null(j.job ->> 'owner_id'), (j.job ->> 'priority')::numeric::integer,
            coalesce(v_now + make_interval(secs => (j.job ->> 'delay_seconds')::double precision),
                     millrace.parse_time(j.job ->> 'scheduled_at', 'scheduled_at')),
            j.job ->> 'dedupe_key', make_interval(secs => (j.job ->> 'dedupe_keep_seconds')::double precision), j.job ->> 'serial_key',
            j.job ->> 'concurrency_key', j.job ->> 'idempotency_key',
            case when j.job ? 'idempotency_key' then sha256(convert_to((j.job - 'idempotency_key' - 'correlation_id' - 'traceparent')::text, 'UTF8')) end,
            j.job ->> 'correlation_id', j.job ->> 'traceparent', j.job ->> 'pipeline', j.job ->> 'stage',
            millrace.uuid_or_null(j.job ->> 'batch_id'), millrace.uuid_or_null(j.job ->> 'parent_id'),
            case when j.job #> '{after,jobs}' is not null
                 then array(select distinct (a.value)::uuid from jsonb_array_elements_text(j.job #> '{after,jobs}') a) end,
            j.job #>> '{after,mode}', j.job #>> '{after,on_failure}', (j.job ->> 'max_attempts')::numeric::integer,
            make_interval(secs => (j.job ->> 'run_timeout_seconds')::double precision),
            coalesce(v_now + make_interval(secs => (j.job ->> 'start_within_seconds')::double precision),
                     millrace.parse_time(j.job ->> 'start_deadline', 'start_deadline')))::millrace.job_spec
      from jsonb_array_elements(v_list) with ordinality j(job, i) order by j.i);
end;
$$;
