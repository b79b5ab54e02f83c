-- millrace.settle_jobs: records outcomes for the deliveries that hold their leases, with their effects, in one transaction.
-- Fence: a lease is matched by job, worker and token; a caller whose lease was given away changes nothing and is answered 'lease_lost'.
-- Idempotent: the token stays in history and attempts, so a repeat after an unknown commit is answered 'already_settled'.
-- 'replaced': settled, but as a retry or failure, because its effects were refused: whatever else was to go with it must not happen.
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
begin
  v_items := millrace.settlements_from_json(p_worker_id, p_settlements);
  -- Jobs with effects one by one: an effect that cannot be written must fail its own job only. All claims and leases of the
  -- call are locked before, in the order of their ids, as everywhere.
  perform from millrace.claim_open o where o.claim_id = any (array(select millrace.claim_of(i.token) from unnest(v_items) i)) and o.worker_id = p_worker_id
    order by o.claim_id for update;
  perform from millrace.lease l where l.job_id = any (array(select i.job_id from unnest(v_items) i)) and l.token = any (array(select i.token from unnest(v_items) i))
    and l.worker_id = p_worker_id order by l.job_id for update;
  for v_item in
    select millrace.uuid_or_null(e.item ->> 'job_id') as id, millrace.uuid_or_null(e.item ->> 'token') as token, e.item -> 'effects' as effects
      from jsonb_array_elements(p_settlements) e(item) where jsonb_typeof(e.item -> 'effects') = 'object'
  loop
    v_taken := millrace.settle_with_effects(p_worker_id, array(select i from unnest(v_items) i where i.job_id = v_item.id and i.token = v_item.token), v_item.effects);
    v_done := v_done || v_taken;
  end loop;
  v_taken := millrace.take_leases(p_worker_id, array(select i from unnest(v_items) i
    where not exists (select from jsonb_array_elements(p_settlements) e(item)
                       where e.item ->> 'job_id' = i.job_id::text and jsonb_typeof(e.item -> 'effects') = 'object')));
  perform millrace.settle_core(v_taken, p_worker_id);
  v_done := v_done || v_taken;
  return query
  select i.job_id, case when t.error ->> 'error_type' = 'invalid_effects' then 'replaced' when t.job_id is not null then 'settled' else millrace.explain_stale(i.job_id, i.token) end
    from unnest(v_items) i left join unnest(v_done) t on t.job_id = i.job_id and t.token = i.token;
end;
$$;
