-- millrace.enqueue_plain: the short way into a lane, for jobs that have nothing but type and payload (and queue and priority, where
-- given). Answers their ids in the order given; none when one of them is not plain or breaks a rule: then nothing was written, and
-- millrace.enqueue_specs does it, or says what is wrong.
-- The ids of one call follow each other: random as a whole, and in one piece in every index.
create or replace function millrace.enqueue_plain(p_job_type text, p_queue text, p_priority integer, p_payloads jsonb[], p_tenant uuid) returns setof uuid
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_type record;
  v_count integer := cardinality(p_payloads);
  v_lane integer;
  v_now timestamptz := millrace.now();
  v_base text := millrace.new_id()::text;
  -- The last 12 digits of the first id, with room for the others.
  v_first bigint := floor(random() * 281470000000000);
  v_ids uuid[];
  v_actor text;
begin
  select t.type_id, t.required_keys, q.queue_id, q.queue, q.depth_max, coalesce(p_priority, t.priority_default, q.priority_default)::smallint as priority into v_type
    from millrace.job_type t
    join millrace.queue q on q.queue_id = case when p_queue is null then t.queue_id else (select o.queue_id from millrace.queue o where o.queue = p_queue) end
   where t.job_type = p_job_type and t.enabled and t.provider_name is null and q.concurrency_max is null;
  if not found or v_count = 0 or v_count > 1000000 or not coalesce(p_priority between 0 and 1000, true)
     or not millrace.config_boolean('system.enqueue_enabled', true)
     or exists (select from unnest(p_payloads) p
                 where p is null or jsonb_typeof(p) <> 'object' or p = '{}' or not p ?& v_type.required_keys
                    or pg_column_size(p) > 65536 or p ? 'estimated_tokens') then
    return;
  end if;
  v_lane := millrace.lane_for(v_type.queue_id, v_type.type_id, p_tenant, v_type.priority);
  if v_lane is null then
    return;
  end if;
  perform millrace.check_depth(v_type.queue_id, p_tenant, v_type.queue, v_type.depth_max, v_count);
  v_actor := millrace.actor();
  with f as (
    insert into millrace.job_fact as n (job_id, tenant_id, queue_id, type_id, priority, payload, scheduled_at, created_at, created_by, lane_id, lane_xid)
    select (left(v_base, 24) || lpad(to_hex(v_first + u.i), 12, '0'))::uuid, p_tenant, v_type.queue_id, v_type.type_id, v_type.priority, u.payload,
           v_now, v_now, v_actor, v_lane, pg_current_xact_id()
      from unnest(p_payloads) with ordinality u(payload, i)
    returning n.job_id)
  select array_agg(f.job_id) into v_ids from f;
  insert into millrace.counter_delta (queue_id, tenant_id, enqueued, ready) values (v_type.queue_id, p_tenant, v_count, v_count);
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason)
  values (v_now, p_tenant, v_actor, 'job_queue', case when v_count = 1 then v_ids[1]::text end, 'INSERT', 'enqueued', v_ids,
          case when v_count = 1 then jsonb_build_object('job_type', p_job_type, 'job_id', v_ids[1], 'scheduled_at', v_now)
               else jsonb_build_object('jobs', v_count) end, 'Job enqueued with correlation tracking');
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids) values (v_now, p_tenant, 'job.enqueued', v_type.queue_id, v_ids);
  perform millrace.wake_queues(array[v_type.queue_id]);
  return query select u from unnest(v_ids) u;
end;
$$;
