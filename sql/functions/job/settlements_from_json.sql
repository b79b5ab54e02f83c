-- millrace.settlements_from_json: reads and checks the settlements of a call; a malformed one is refused by position and field.
create or replace function millrace.settlements_from_json(p_worker_id text, p_settlements jsonb) returns millrace.moving[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
  v_now timestamptz := millrace.now();
begin
  if p_settlements is null or jsonb_typeof(p_settlements) <> 'array' then
    raise exception 'p_settlements must be a JSON array' using errcode = 'MR016';
  end if;
  select s.i, case when jsonb_typeof(s.item) <> 'object' then 'must be an object'
                   when millrace.uuid_or_null(s.item ->> 'job_id') is null then 'job_id must be a uuid'
                   when millrace.uuid_or_null(s.item ->> 'token') is null then 'token must be a uuid'
                   when coalesce(s.item ->> 'outcome', '') not in ('ok', 'retry', 'throttled', 'blocked', 'permanent', 'partial', 'cancelled', 'rescheduled', 'handback')
                     then 'outcome must be one of ok, retry, throttled, blocked, permanent, partial, cancelled, rescheduled, handback'
                   when coalesce(jsonb_typeof(s.item -> 'retry_after_seconds'), 'null') not in ('number', 'null') then 'retry_after_seconds must be a number'
                   when coalesce(jsonb_typeof(s.item -> 'actual_tokens'), 'null') not in ('number', 'null') then 'actual_tokens must be a number'
                   when coalesce(jsonb_typeof(s.item -> 'error'), 'null') not in ('object', 'null') then 'error must be an object'
                   when coalesce(jsonb_typeof(s.item -> 'crash'), 'null') not in ('boolean', 'null') then 'crash must be true or false'
                   when coalesce(jsonb_typeof(s.item -> 'asked'), 'null') not in ('boolean', 'null') then 'asked must be true or false'
              end as message into v_bad
    from jsonb_array_elements(p_settlements) with ordinality s(item, i)
   where jsonb_typeof(s.item) <> 'object' or millrace.uuid_or_null(s.item ->> 'job_id') is null or millrace.uuid_or_null(s.item ->> 'token') is null
      or coalesce(s.item ->> 'outcome', '') not in ('ok', 'retry', 'throttled', 'blocked', 'permanent', 'partial', 'cancelled', 'rescheduled', 'handback')
      or coalesce(jsonb_typeof(s.item -> 'retry_after_seconds'), 'null') not in ('number', 'null')
      or coalesce(jsonb_typeof(s.item -> 'actual_tokens'), 'null') not in ('number', 'null')
      or coalesce(jsonb_typeof(s.item -> 'error'), 'null') not in ('object', 'null')
      or coalesce(jsonb_typeof(s.item -> 'crash'), 'null') not in ('boolean', 'null')
      or coalesce(jsonb_typeof(s.item -> 'asked'), 'null') not in ('boolean', 'null')
   order by s.i limit 1;
  if found then
    raise exception 'settlement %: %', v_bad.i, v_bad.message using errcode = 'MR016';
  end if;
  -- A delay the outside asked for counts when it is sane: not negative, at most a day. A result over the limit cannot be kept, and
  -- the work would only make it again: it fails for good, and says why. Flag 128: the delivery never asked the provider of its type.
  return array(
    select row((s.item ->> 'job_id')::uuid, null, null, null, null, case when not (s.item ->> 'asked')::boolean then 128 end, null, null, null,
               case when (s.item ->> 'crash')::boolean then 1 else 0 end, 0, 0, null, null, (s.item ->> 'token')::uuid, p_worker_id, null, null, null,
               null, null, null, case when b.too_large then 'permanent' else s.item ->> 'outcome' end, null,
               case when b.too_large then null else nullif(s.item -> 'result', 'null'::jsonb) end,
               case when b.too_large
                    then jsonb_build_object('error_type', 'result_too_large', 'message', 'result is larger than 262144 bytes', 'sqlstate', 'MR004')
                    when s.item ? 'error' then nullif(millrace.redact(s.item -> 'error'), 'null'::jsonb) end,
               case when s.item ->> 'outcome' = 'partial' then coalesce(s.item -> 'parts', '{}') end,
               -- greatest() ignores nulls, and a figure that is not known must not become 0.
               case when (s.item ->> 'actual_tokens')::numeric < 0 then 0 else (s.item ->> 'actual_tokens')::numeric end::bigint,
               case when (s.item ->> 'retry_after_seconds')::numeric between 0 and 86400
                    then v_now + make_interval(secs => (s.item ->> 'retry_after_seconds')::double precision) end,
               null, case when b.too_large then 'result_too_large' else left(s.item #>> '{error,reason}', 200) end, null, null)::millrace.moving
      from jsonb_array_elements(p_settlements) s(item)
      cross join lateral (select pg_column_size(s.item -> 'result') > 65536 and octet_length((s.item -> 'result')::text) > 262144 as too_large) b);
end;
$$;
