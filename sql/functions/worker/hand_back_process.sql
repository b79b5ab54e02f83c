-- millrace.hand_back_process: the supervisor saw its child die: the child's row goes and its jobs are reclaimed, as after an expired
-- lease, and ready again at once.
create or replace function millrace.hand_back_process(p_supervisor_id text, p_worker_id text) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_nonce uuid;
  v_ids uuid[];
  v_claimed uuid[];
  v_count integer;
  v_claims uuid[];
  v_patience text := current_setting('lock_timeout');
begin
  delete from millrace.worker w where w.worker_id = p_worker_id and w.supervisor_id = p_supervisor_id returning w.nonce into v_nonce;
  if v_nonce is null then
    return 0;
  end if;
  perform millrace.note_deaths(array[v_nonce]);
  -- What the child's last statement holds is waited for: it ends soon, and who else would look for it may not be there. Claims before
  -- leases: a job may be given a lease of its own at this moment, but never the other way round.
  begin
    perform set_config('lock_timeout', '2s', true);
    v_claims := array(select o.claim_id from millrace.claim_open o where o.process = v_nonce order by o.claim_id for update);
    v_ids := array(select l.job_id from millrace.lease l where l.process = v_nonce order by l.job_id for update);
  exception when lock_not_available then
    -- The next sweep takes the rest.
    v_claims := array(select o.claim_id from millrace.claim_open o where o.process = v_nonce order by o.claim_id for update skip locked);
    v_ids := array(select l.job_id from millrace.lease l where l.process = v_nonce order by l.job_id for update skip locked);
  end;
  perform set_config('lock_timeout', v_patience, true);
  v_claimed := millrace.reclaim_claims(v_claims, 'worker_crashed', true, true);
  v_count := millrace.reclaim_leases(v_ids, 'worker_crashed', true, true);
  v_ids := v_ids || v_claimed;
  perform millrace.promote_rows(array(
    select d.job_id from millrace.delayed d where d.job_id = any (v_ids) and d.due_at <= millrace.now() order by d.job_id for update));
  return v_count + cardinality(v_claimed);
end;
$$;
