-- millrace.check_remote_worker: raises MR023 unless the worker process exists and came with this API token. Sent in one piece with the verb that it
-- guards. p_gone: a process that was declared dead may still ask what became of its jobs: the fence answers.
create or replace function millrace.check_remote_worker(p_worker_id text, p_process uuid, p_token uuid, p_gone boolean default false) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_row record;
begin
  select w.nonce, w.token_id into v_row from millrace.worker w where w.worker_id = p_worker_id;
  if (not found and p_gone is true) or (v_row.nonce = p_process and v_row.token_id = p_token) then
    return;
  end if;
  raise exception 'worker % is not registered', p_worker_id using errcode = 'MR023';
end;
$$;
