-- millrace.enqueue_plain_jobs: the short way into lanes for a JSON list of jobs that have nothing but type, payload, queue, priority and the ids of the
-- request they came with, of one kind or several. Answers a row for each, in the order given; none when one of them is not plain or breaks a rule: then
-- no job was written, and millrace.enqueue_specs does it, or says what is wrong.
-- The ids of one call follow each other: random as a whole, and in one piece in every index.
create or replace function millrace.enqueue_plain_jobs(p_jobs jsonb, p_tenant uuid) returns table (ord integer, job_id uuid, answer text)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_list jsonb := case jsonb_typeof(p_jobs) when 'object' then jsonb_build_array(p_jobs) when 'array' then p_jobs else '[]' end;
  v_now timestamptz := millrace.now();
  v_base text := left(millrace.new_id()::text, 24);
  -- The last 12 digits of the first id, with room for the others.
  v_first bigint := floor(random() * 281470000000000);
  v_plain boolean;
  v_count integer;
  -- Of each job.
  v_kinds integer[];
  v_job_types text[];
  v_named_queues text[];
  v_priorities text[];
  v_payloads jsonb[];
  v_correlation_ids text[];
  v_traceparents text[];
  v_ids uuid[];
  -- Of each kind.
  v_queues smallint[] := '{}';
  v_types smallint[] := '{}';
  v_ranks smallint[] := '{}';
  v_lanes integer[] := '{}';
  v_kind record;
  v_type record;
  v_lane integer;
  v_actor text;
begin
  if not jsonb_array_length(v_list) between 1 and 100000 or not millrace.config_boolean('system.enqueue_enabled', true) then
    return;
  end if;
  select bool_and(s.plain), count(*), array_agg(s.kind), array_agg(s.job_type), array_agg(s.queue), array_agg(s.priority), array_agg(s.payload),
         array_agg(s.correlation_id), array_agg(s.traceparent)
    into v_plain, v_count, v_kinds, v_job_types, v_named_queues, v_priorities, v_payloads, v_correlation_ids, v_traceparents
    from (select j.*, (dense_rank() over (order by j.job_type, j.queue, j.priority))::integer as kind
            from (select u.i, u.job ->> 'job_type' as job_type, u.job ->> 'queue' as queue, u.job ->> 'priority' as priority, u.job -> 'payload' as payload,
                         u.job ->> 'correlation_id' as correlation_id, u.job ->> 'traceparent' as traceparent,
                         case when jsonb_typeof(u.job) <> 'object' then false
                              when u.job - '{job_type,payload,queue,priority,correlation_id,traceparent}'::text[] <> '{}' then false
                              when jsonb_typeof(u.job -> 'payload') is distinct from 'object' then false
                              when (u.job -> 'payload') = '{}' or pg_column_size(u.job -> 'payload') > 65536 then false
                              when (u.job -> 'payload') ? 'estimated_tokens' then false
                              when jsonb_typeof(u.job -> 'job_type') is distinct from 'string' then false
                              when jsonb_typeof(u.job -> 'queue') not in ('string', 'null') then false
                              when jsonb_typeof(u.job -> 'correlation_id') not in ('string', 'null') then false
                              when jsonb_typeof(u.job -> 'traceparent') not in ('string', 'null') then false
                              when octet_length(u.job ->> 'correlation_id') > 1024 or octet_length(u.job ->> 'traceparent') > 1024 then false
                              when jsonb_typeof(u.job -> 'priority') not in ('number', 'null') then false
                              when (u.job ->> 'priority') !~ '^([0-9]{1,3}|1000)$' then false
                              else true end as plain
                    from jsonb_array_elements(v_list) with ordinality u(job, i)) j
           order by j.i) s;
  if not v_plain then
    return;
  end if;
  for v_kind in
    select s.kind, min(s.job_type) as job_type, min(s.queue) as queue, min(s.priority)::smallint as priority
      from unnest(v_kinds, v_job_types, v_named_queues, v_priorities) s(kind, job_type, queue, priority)
     group by s.kind order by s.kind
  loop
    select t.type_id, t.required_keys, q.queue_id, coalesce(v_kind.priority, t.priority_default, q.priority_default)::smallint as rank into v_type
      from millrace.job_type t
      join millrace.queue q on q.queue_id = case when v_kind.queue is null then t.queue_id
                                                 else (select o.queue_id from millrace.queue o where o.queue = v_kind.queue) end
     where t.job_type = v_kind.job_type and t.enabled and t.provider_name is null and q.concurrency_max is null;
    if not found or exists (select from unnest(v_kinds, v_payloads) s(kind, payload) where s.kind = v_kind.kind and not s.payload ?& v_type.required_keys) then
      return;
    end if;
    v_lane := millrace.lane_for(v_type.queue_id, v_type.type_id, p_tenant, v_type.rank);
    if v_lane is null then
      return;
    end if;
    v_queues := v_queues || v_type.queue_id;
    v_types := v_types || v_type.type_id;
    v_ranks := v_ranks || v_type.rank;
    v_lanes := v_lanes || v_lane;
  end loop;
  perform millrace.check_depth(q.queue_id, p_tenant, q.queue, q.depth_max, d.adding)
     from (select v_queues[k] as queue_id, count(*) as adding from unnest(v_kinds) k group by v_queues[k]) d
     join millrace.queue q on q.queue_id = d.queue_id;

  v_actor := millrace.actor();
  v_ids := array(select (v_base || lpad(to_hex(v_first + i), 12, '0'))::uuid from generate_series(1, v_count) i);
  with made as (
    insert into millrace.job_fact (job_id, tenant_id, queue_id, type_id, priority, payload, correlation_id, traceparent, scheduled_at, created_at,
        created_by, lane_id, lane_xid)
    select s.job_id, p_tenant, v_queues[s.kind], v_types[s.kind], v_ranks[s.kind], s.payload, s.correlation_id, s.traceparent, v_now, v_now, v_actor,
           v_lanes[s.kind], pg_current_xact_id()
      from unnest(v_ids, v_kinds, v_payloads, v_correlation_ids, v_traceparents) s(job_id, kind, payload, correlation_id, traceparent)),
  counted as (
    insert into millrace.counter_delta (queue_id, tenant_id, enqueued, ready)
    select v_queues[k], p_tenant, count(*), count(*) from unnest(v_kinds) k group by v_queues[k]),
  audited as (
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason)
    values (v_now, p_tenant, v_actor, 'job_queue', case when v_count = 1 then v_ids[1]::text end, 'INSERT', 'enqueued', v_ids,
            case when v_count = 1 then jsonb_build_object('job_type', v_job_types[1], 'job_id', v_ids[1], 'scheduled_at', v_now)
                 else jsonb_build_object('jobs', v_count) end, 'Job enqueued with correlation tracking'))
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids)
  select v_now, p_tenant, 'job.enqueued', v_queues[s.kind], array_agg(s.job_id) from unnest(v_kinds, v_ids) s(kind, job_id) group by v_queues[s.kind];
  perform millrace.wake_queues(array(select distinct q from unnest(v_queues) q));
  return query select s.i::integer, s.job_id, 'created' from unnest(v_ids) with ordinality s(job_id, i);
end;
$$;
