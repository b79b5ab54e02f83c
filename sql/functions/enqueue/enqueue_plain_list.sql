-- millrace.enqueue_plain_list: the short way into lanes for a JSON list of jobs that have nothing but type, payload, queue, priority and the ids of the
-- request they came with. Answers their ids in the order given; null when one of them is not plain or breaks a rule: then no job was written, and
-- millrace.enqueue_specs does it, or says what is wrong.
-- Jobs of a kind have the same members but for payload and ids. Most calls bring one kind, and all that has to be known of it is looked up in one
-- statement; what is rarely so (a lane that is missing, a queue that is nearly full, a worker that waits) is left to the function that knows.
-- The ids of one call follow each other: random as a whole, and in one piece in every index.
create or replace function millrace.enqueue_plain_list(p_jobs jsonb, p_tenant uuid) returns uuid[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_list jsonb := case jsonb_typeof(p_jobs) when 'object' then jsonb_build_array(p_jobs) when 'array' then p_jobs else '[]' end;
  v_now timestamptz := millrace.now();
  v_base text := left(millrace.new_id()::text, 24);
  -- The last 12 digits of the first id, with room for the others.
  v_first bigint := floor(random() * 281470000000000);
  v_actor text;
  v_plain boolean;
  v_count integer;
  -- Of each job. The number of its kind, null where all are of the first.
  v_which integer[];
  v_ids uuid[];
  v_kind_of jsonb[];
  v_payloads jsonb[];
  v_correlation_ids text[];
  v_traceparents text[];
  -- Of each kind.
  v_kinds jsonb[];
  v_queues smallint[] := '{}';
  v_types smallint[] := '{}';
  v_ranks smallint[] := '{}';
  v_lanes integer[] := '{}';
  v_kind jsonb;
  v_type record;
  v_lane integer;
  -- Of each queue that gets jobs.
  v_into smallint[];
  v_adding integer[];
  v_near boolean := false;
  v_armed boolean;
begin
  if not jsonb_array_length(v_list) between 1 and 100000 then
    return null;
  end if;
  select bool_and(case when j.kind is null or jsonb_typeof(j.payload) is distinct from 'object' or j.payload = '{}' or pg_column_size(j.payload) > 65536
                            or j.payload ? 'estimated_tokens' then false
                       when jsonb_typeof(j.job -> 'correlation_id') not in ('string', 'null') or octet_length(j.correlation_id) > 1024 then false
                       when jsonb_typeof(j.job -> 'traceparent') not in ('string', 'null') or octet_length(j.traceparent) > 1024 then false
                       else true end),
         count(*), array_agg((v_base || lpad(to_hex(v_first + j.i), 12, '0'))::uuid), array_agg(j.kind), array_agg(j.payload), array_agg(j.correlation_id),
         array_agg(j.traceparent)
    into v_plain, v_count, v_ids, v_kind_of, v_payloads, v_correlation_ids, v_traceparents
    from (select u.i, u.job, case jsonb_typeof(u.job) when 'object' then u.job - '{payload,correlation_id,traceparent}'::text[] end as kind,
                 u.job -> 'payload' as payload, u.job ->> 'correlation_id' as correlation_id, u.job ->> 'traceparent' as traceparent
            from jsonb_array_elements(v_list) with ordinality u(job, i)
          offset 0) j;
  if not v_plain then
    return null;
  end if;
  if v_kind_of[1] = all (v_kind_of) then
    v_kinds := v_kind_of[1:1];
  else
    v_kinds := array(select distinct k from unnest(v_kind_of) k);
    v_which := array(select array_position(v_kinds, k.kind) from unnest(v_kind_of) with ordinality k(kind, i) order by k.i);
  end if;

  foreach v_kind in array v_kinds loop
    if v_kind - '{job_type,queue,priority}'::text[] <> '{}' or jsonb_typeof(v_kind -> 'job_type') is distinct from 'string'
       or jsonb_typeof(v_kind -> 'queue') not in ('string', 'null') or jsonb_typeof(v_kind -> 'priority') not in ('number', 'null')
       or v_kind ->> 'priority' !~ '^([0-9]{1,3}|1000)$' then
      return null;
    end if;
    select t.type_id, t.required_keys, q.queue_id, q.depth_max, r.rank, l.lane_id, l.by_hand_until, coalesce(c.ready + c.delayed, 0) as waiting,
           coalesce((select o.config_value::boolean from millrace.system_configuration o where o.config_key = 'system.enqueue_enabled'), true) as enabled
      into v_type
      from millrace.job_type t
      join millrace.queue q on q.queue_id = case when v_kind ->> 'queue' is null then t.queue_id
                                                 else (select n.queue_id from millrace.queue n where n.queue = v_kind ->> 'queue') end
      cross join lateral (select coalesce((v_kind ->> 'priority')::smallint, t.priority_default, q.priority_default)::smallint as rank) r
      left join millrace.lane l on l.queue_id = q.queue_id and l.type_id = t.type_id and l.tenant_id = p_tenant and l.priority = r.rank
      left join millrace.counter c on c.queue_id = q.queue_id and c.tenant_id = p_tenant
     where t.job_type = v_kind ->> 'job_type' and t.enabled and t.provider_name is null and q.concurrency_max is null;
    if not found or not v_type.enabled then
      return null;
    end if;
    if v_type.required_keys <> '{}' then
      if exists (select from generate_series(1, v_count) i
                  where v_kind_of[i] = v_kind and not v_payloads[i] ?& v_type.required_keys) then
        return null;
      end if;
    end if;
    v_lane := v_type.lane_id;
    if v_lane is null or v_type.by_hand_until is not null then
      v_lane := millrace.lane_for(v_type.queue_id, v_type.type_id, p_tenant, v_type.rank);
      if v_lane is null then
        return null;
      end if;
    end if;
    v_queues := v_queues || v_type.queue_id;
    v_types := v_types || v_type.type_id;
    v_ranks := v_ranks || v_type.rank;
    v_lanes := v_lanes || v_lane;
    -- As millrace.check_depth, which is exact, would find out.
    v_near := v_near or v_type.waiting + v_count + 1000000 > v_type.depth_max;
  end loop;
  if v_which is null then
    v_into := v_queues;
    v_adding := array[v_count];
  else
    select array_agg(d.queue_id), array_agg(d.adding) into v_into, v_adding
      from (select v_queues[w] as queue_id, count(*)::integer as adding from unnest(v_which) w group by v_queues[w]) d;
  end if;
  if v_near then
    perform millrace.check_depth(q.queue_id, p_tenant, q.queue, q.depth_max, d.adding)
       from unnest(v_into, v_adding) d(queue_id, adding) join millrace.queue q on q.queue_id = d.queue_id;
  end if;

  v_actor := millrace.actor();
  with made as (
    insert into millrace.job_fact (job_id, tenant_id, queue_id, type_id, priority, payload, correlation_id, traceparent, scheduled_at, created_at,
        created_by, lane_id, lane_xid)
    select v_ids[i], p_tenant, v_queues[coalesce(v_which[i], 1)], v_types[coalesce(v_which[i], 1)], v_ranks[coalesce(v_which[i], 1)], v_payloads[i],
           v_correlation_ids[i], v_traceparents[i], v_now, v_now, v_actor, v_lanes[coalesce(v_which[i], 1)], pg_current_xact_id()
      from generate_series(1, v_count) i),
  counted as (
    insert into millrace.counter_delta (queue_id, tenant_id, enqueued, ready)
    select d.queue_id, p_tenant, d.adding, d.adding from unnest(v_into, v_adding) d(queue_id, adding)),
  audited as (
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason)
    values (v_now, p_tenant, v_actor, 'job_queue', case when v_count = 1 then v_ids[1]::text end, 'INSERT', 'enqueued', v_ids,
            case when v_count = 1 then jsonb_build_object('job_type', v_kinds[1] ->> 'job_type', 'job_id', v_ids[1], 'scheduled_at', v_now)
                 else jsonb_build_object('jobs', v_count) end, 'Job enqueued with correlation tracking')),
  told as (
    insert into millrace.event (at, tenant_id, kind, queue_id, job_ids)
    select v_now, p_tenant, 'job.enqueued', q.queue_id,
           case when cardinality(v_into) = 1 then v_ids else array(select v_ids[i] from generate_series(1, v_count) i where v_queues[v_which[i]] = q.queue_id) end
      from unnest(v_into) q(queue_id))
  -- Under load nobody waits for a queue.
  select exists (select from millrace.wake w where w.queue_id = any (v_into) and w.armed) into v_armed;
  if v_armed then
    perform millrace.wake_queues(v_into);
  end if;
  return v_ids;
end;
$$;
