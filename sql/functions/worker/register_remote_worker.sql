-- millrace.register_remote_worker: millrace.register_worker for a process that reaches the engine over HTTP: its row belongs to the API token it came
-- with (p_token), and only callers with that token may claim and settle under its name (millrace.check_remote_worker).
create or replace function millrace.register_remote_worker(p_worker_id text, p_info jsonb, p_token uuid) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_nonce uuid;
begin
  if p_token is null then
    raise exception 'p_token is required' using errcode = 'MR024';
  end if;
  -- For its tenant it may be written to, if anything is: a worker of a disabled tenant is refused here.
  perform millrace.current_tenant();
  v_nonce := millrace.register_worker(p_worker_id, p_info);
  update millrace.worker w set token_id = p_token where w.nonce = v_nonce;
  return v_nonce;
end;
$$;
