-- millrace.claim_jobs: hands ready jobs of one queue to a worker process, with what a handler needs.
-- p_job_types: the types it has handlers for (null: all). p_marks: see millrace.claim_marked_groups.
-- p_alone: exactly one suspect (a job whose worker processes died under it), to be run with nothing beside it.
create or replace function millrace.claim_jobs(
    p_worker_id text, p_process uuid, p_queue text, p_limit integer, p_job_types text[] default null, p_marks jsonb default null,
    p_alone boolean default false)
  returns table (job_id uuid, token uuid, tenant_id uuid, job_type text, payload jsonb, priority integer, attempt integer,
    max_attempts integer, delivery_count integer, generation integer, run_timeout_ms bigint, lease_ms bigint, job_name text, owner_id uuid,
    correlation_id text, traceparent text, pipeline text, stage text, batch_id uuid, parent_id uuid, serial_key text, carry jsonb,
    alone boolean, mark text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_queue millrace.queue;
  v_types smallint[];
  v_leases millrace.lease[];
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'p_limit must be between 1 and 10000' using errcode = 'MR024';
  end if;
  select q.* into v_queue from millrace.queue q where q.queue = p_queue;
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_queue) using errcode = 'MR007';
  end if;
  if not exists (select from millrace.worker w where w.worker_id = p_worker_id and w.nonce = p_process) then
    raise exception 'worker % is not registered', p_worker_id using errcode = 'MR023';
  end if;
  if p_job_types is not null then
    v_types := array(select t.type_id from millrace.job_type t where t.job_type = any (p_job_types));
  end if;
  -- In a statement of its own: one that began before a job was committed can lease it, but not join its fact.
  v_leases := array(
    select row(l.*)::millrace.lease
      from millrace.claim_core(p_worker_id, p_process, array[v_queue.queue_id], v_types, millrace.tenant_scope(), null,
                               case when p_alone then 1 else p_limit end, null, true, p_marks, p_alone) l);
  return query
  select l.job_id, l.token, l.tenant_id, t.job_type, f.payload, l.priority::integer, l.attempt + 1,
         coalesce(f.max_attempts, t.max_attempts, v_queue.max_attempts)::integer, l.delivery_count, l.generation::integer,
         (extract(epoch from coalesce(f.run_timeout, t.run_timeout, v_queue.run_timeout)) * 1000)::bigint,
         (extract(epoch from l.lease_until - l.leased_at) * 1000)::bigint, f.job_name, f.owner_id, f.correlation_id, f.traceparent,
         f.pipeline, f.stage, f.batch_id, f.parent_id, f.serial_key,
         case when l.flags & 64 <> 0 then (select a.carry from millrace.attempt a where a.job_id = l.job_id and a.carry is not null
                                            order by a.attempt_seq desc limit 1) end,
         l.alone, l.type_id || ':' || l.tenant_id || ':' || l.priority || ':' || l.ready_seq
    from unnest(v_leases) with ordinality l
    join millrace.job_fact f on f.job_id = l.job_id
    join millrace.job_type t on t.type_id = l.type_id
   order by l.ordinality;
  if cardinality(v_leases) = 0 and not p_alone then
    perform millrace.arm_wake(v_queue.queue_id);
  end if;
end;
$$;
