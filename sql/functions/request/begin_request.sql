-- millrace.begin_request: a request with an Idempotency-Key is about to be done. Answers: 'started' with a token, for whoever shall do it; 'running'
-- while somebody does, with a header that says when to ask again (after as long as it has run already, and not past its lease); 'mismatch' where
-- the key came before with another request; 'done' with what to say again. A request whose process fell silent for longer than its lease is started anew, by the next one who asks, with another token.
create or replace function millrace.begin_request(p_scope text, p_key text, p_fingerprint bytea, p_lease interval default interval '60 seconds',
    p_keep interval default interval '1 day')
  returns table (answer text, token uuid, status integer, headers jsonb, body bytea, effect jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := millrace.current_tenant();
  v_scope text := millrace.request_scope(p_scope);
  v_now timestamptz := millrace.now();
  v_token uuid := gen_random_uuid();
  v_row millrace.http_request;
  v_left integer;
  v_run integer;
begin
  if p_scope is null or coalesce(octet_length(p_key), 0) not between 1 and 1024 or p_fingerprint is null
     or coalesce(p_lease not between interval '1 second' and interval '1 hour', true) or coalesce(p_keep not between interval '1 minute' and interval '30 days', true) then
    raise exception 'an idempotency key must have 1 to 1024 bytes, with a scope, a fingerprint, a lease of 1 second to 1 hour and 1 minute to 30 days to keep'
      using errcode = 'MR024';
  end if;
  for v_round in 1 .. 5 loop
    insert into millrace.http_request (tenant_id, scope, request_key, fingerprint, state, token, lease_until, created_at, expires_at)
    values (v_tenant, v_scope, p_key, p_fingerprint, 'running', v_token, v_now + p_lease, v_now, v_now + p_keep)
    on conflict do nothing;
    if found then
      return query select 'started', v_token, null::integer, null::jsonb, null::bytea, null::jsonb;
      return;
    end if;
    select r.* into v_row from millrace.http_request r where r.tenant_id = v_tenant and r.scope = v_scope and r.request_key = p_key for update;
    -- Removed meanwhile: once more.
    continue when not found;
    if v_row.expires_at <= v_now then
      delete from millrace.http_request r where r.tenant_id = v_tenant and r.scope = v_scope and r.request_key = p_key;
      continue;
    end if;
    if v_row.fingerprint <> p_fingerprint then
      return query select 'mismatch', null::uuid, null::integer, null::jsonb, null::bytea, null::jsonb;
    elsif v_row.state = 'done' then
      return query select 'done', null::uuid, v_row.status, v_row.headers, v_row.body, v_row.effect;
    elsif v_row.lease_until > v_now then
      v_left := ceil(extract(epoch from v_row.lease_until - v_now));
      v_run := floor(extract(epoch from p_lease)) - v_left;
      return query select 'running', null::uuid, null::integer, jsonb_build_object('retry-after', least(greatest(v_run, 1), greatest(v_left, 1))), null::bytea, null::jsonb;
    else
      update millrace.http_request r set token = v_token, lease_until = v_now + p_lease
       where r.tenant_id = v_tenant and r.scope = v_scope and r.request_key = p_key;
      return query select 'started', v_token, null::integer, null::jsonb, null::bytea, null::jsonb;
    end if;
    return;
  end loop;
  raise exception 'the idempotency key changed hands too often' using errcode = '40001';
end;
$$;
