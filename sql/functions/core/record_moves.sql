-- millrace.record_moves: evidence of transitions, one audit row and one event row per tenant and action that name their jobs,
-- and the counter deltas. p_counts is one of the counter columns that rises with the action (null: none); p_from and p_to
-- are the places ('ready', 'delayed', 'leased', or null).
create or replace function millrace.record_moves(
    p_action text, p_rows millrace.moving[], p_worker_id text, p_reason text,
    p_from text, p_to text, p_final text, p_details jsonb default null)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_actor text := coalesce(p_worker_id, millrace.actor());
begin
  if coalesce(cardinality(p_rows), 0) = 0 then
    return;
  end if;
  insert into millrace.audit (at, tenant_id, actor, worker_id, table_name, record_id, operation, action, job_ids,
                              new_values, reason)
  select v_now, r.tenant_id, v_actor, p_worker_id, 'job_queue',
         case when count(*) = 1 then min(r.job_id::text) end,
         case when p_action = 'enqueued' then 'INSERT' else 'UPDATE' end, p_action, array_agg(r.job_id),
         coalesce(p_details, '{}'::jsonb)
           || case when count(*) = 1 then jsonb_build_object('job_id', min(r.job_id::text)) else '{}'::jsonb end
           || case when p_final is not null then jsonb_build_object('status', p_final) else '{}'::jsonb end
           || case when p_worker_id is not null then jsonb_build_object('worker_id', p_worker_id) else '{}'::jsonb end,
         p_reason
    from unnest(p_rows) r group by r.tenant_id;
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids, data)
  select v_now, r.tenant_id, 'job.' || p_action, r.queue_id, array_agg(r.job_id), p_details
    from unnest(p_rows) r group by r.tenant_id, r.queue_id;
  insert into millrace.counter_delta (queue_id, tenant_id, completed, failed, cancelled, ready, delayed, leased)
  select r.queue_id, r.tenant_id,
         case when p_final = 'completed' then count(*) else 0 end,
         case when p_final = 'failed' then count(*) else 0 end,
         case when p_final = 'cancelled' then count(*) else 0 end,
         case when p_to = 'ready' then count(*) else 0 end - case when p_from = 'ready' then count(*) else 0 end,
         case when p_to = 'delayed' then count(*) else 0 end - case when p_from = 'delayed' then count(*) else 0 end,
         case when p_to = 'leased' then count(*) else 0 end - case when p_from = 'leased' then count(*) else 0 end
    from unnest(p_rows) r group by r.queue_id, r.tenant_id;
end;
$$;
