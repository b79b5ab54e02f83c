-- millrace.settle_jobs: records outcomes for the deliveries that hold their leases, with their effects, in one transaction.
-- Fence: a lease is matched by job, worker and token; a caller whose lease was given away changes nothing and is answered 'lease_lost'.
-- Idempotent: the token stays in history and attempts, so a repeat after an unknown commit is answered 'already_settled'.
-- 'replaced': settled, but as a retry or failure, because its effects were refused, or as cancelled, because it is an export that was told to stop: whatever else was to go with it must
-- not happen.
-- One stale job never disturbs the others of the call.
create or replace function millrace.settle_jobs(p_worker_id text, p_settlements jsonb)
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_items millrace.moving[];
  v_taken millrace.moving[];
  v_item record;
  v_done millrace.moving[] := '{}';
  v_apart uuid[] := '{}';
begin
  v_items := millrace.settlements_from_json(p_worker_id, p_settlements);
  -- Jobs with effects one by one: an effect that cannot be written must fail its own job only. All claims and leases of the
  -- call are locked before, in the order of their ids, as everywhere.
  perform from millrace.claim_open o where o.claim_id = any (array(select distinct millrace.claim_of(i.token) from unnest(v_items) i)) and o.worker_id = p_worker_id
    order by o.claim_id for update;
  perform from (select i.job_id, i.token from unnest(v_items) i order by i.job_id) i
    cross join lateral (select from millrace.lease l where l.job_id = i.job_id and l.token = i.token and l.worker_id = p_worker_id for update) l;
  for v_item in
    select e.i, millrace.uuid_or_null(e.item ->> 'job_id') as job_id, e.item -> 'effects' as effects
      from jsonb_array_elements(p_settlements) with ordinality e(item, i) where jsonb_typeof(e.item -> 'effects') = 'object'
  loop
    v_done := v_done || millrace.settle_with_effects(p_worker_id, array[v_items[v_item.i]], v_item.effects);
    v_apart := v_apart || v_item.job_id;
  end loop;
  v_taken := millrace.take_leases(p_worker_id, case when cardinality(v_apart) = 0 then v_items
    else array(select i from unnest(v_items) i where not i.job_id = any (v_apart)) end);
  perform millrace.settle_core(v_taken, p_worker_id);
  return query select a.* from millrace.answers_of(v_items, v_done || v_taken) a;
end;
$$;
