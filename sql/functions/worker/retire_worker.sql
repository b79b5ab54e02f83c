-- millrace.retire_worker: a process leaves in good order: all it still holds goes back without charge, then its row is gone.
create or replace function millrace.retire_worker(p_worker_id text, p_process uuid) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_count integer;
begin
  -- Claims under way are waited for; those that come later find nobody.
  perform from millrace.worker w where w.worker_id = p_worker_id and w.nonce = p_process for update;
  v_count := millrace.hand_back_leases(p_worker_id, p_process);
  delete from millrace.worker w where w.worker_id = p_worker_id and w.nonce = p_process;
  return v_count;
end;
$$;
