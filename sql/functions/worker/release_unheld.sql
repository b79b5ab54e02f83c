-- millrace.release_unheld: a process whose claim was not answered says what it holds; the rest of its leases go back without charge.
create or replace function millrace.release_unheld(p_worker_id text, p_process uuid, p_held uuid[]) returns integer
  language sql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$ select millrace.hand_back_leases(p_worker_id, p_process, coalesce(p_held, '{}')) $$;
