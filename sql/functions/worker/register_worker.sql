-- millrace.register_worker: a worker process announces itself and gets the nonce its leases are bound to. An id can be registered
-- once while it lives: two processes never share one.
create or replace function millrace.register_worker(p_worker_id text, p_info jsonb) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_nonce uuid := gen_random_uuid();
  v_now timestamptz := millrace.now();
  v_lease interval := make_interval(secs => coalesce((p_info ->> 'lease_ms')::double precision, 30000) / 1000.0);
begin
  if coalesce(p_worker_id, '') = '' or octet_length(p_worker_id) > 200 then
    raise exception 'p_worker_id must have 1 to 200 bytes' using errcode = 'MR024';
  end if;
  if v_lease < interval '1 second' or v_lease > interval '1 day' then
    raise exception 'lease_ms must be between 1000 and 86400000' using errcode = 'MR024';
  end if;
  if exists (select from millrace.stamps_ahead()) then
    raise exception 'this database was restored from another server' using errcode = 'MR025', hint = 'run millrace restore-check';
  end if;
  insert into millrace.worker (worker_id, nonce, supervisor_id, host, pid, version, slots, queues, job_types, lease, started_at, beat_at, lease_until,
      clock_skew_ms)
  values (p_worker_id, v_nonce, p_info ->> 'supervisor_id', coalesce(p_info ->> 'host', 'unknown'), coalesce((p_info ->> 'pid')::integer, 0),
          coalesce(p_info ->> 'version', 'unknown'), coalesce((p_info ->> 'slots')::integer, 1),
          array(select jsonb_array_elements_text(coalesce(p_info -> 'queues', '[]'))),
          array(select jsonb_array_elements_text(coalesce(p_info -> 'job_types', '[]'))), v_lease, v_now, v_now, v_now + v_lease,
          coalesce((p_info ->> 'client_time_ms')::bigint - floor(extract(epoch from v_now) * 1000)::bigint, 0))
  on conflict (worker_id) do nothing;
  if not found then
    raise exception 'worker % is already registered', p_worker_id using errcode = 'MR024', hint = 'choose another worker id';
  end if;
  return v_nonce;
end;
$$;
