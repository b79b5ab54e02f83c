-- millrace.retire_worker: a process leaves in good order: all it still holds goes back without charge, then its row is gone.
create or replace function millrace.retire_worker(p_worker_id text, p_process uuid) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
begin
  v_count := millrace.hand_back_leases(p_worker_id, p_process);
  delete from millrace.worker w where w.worker_id = p_worker_id and w.nonce = p_process;
  return v_count;
end;
$$;
