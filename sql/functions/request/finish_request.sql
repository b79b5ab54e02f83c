-- millrace.finish_request: what was answered, to be said again. Fence: the token of millrace.begin_request; a request that somebody else does by now
-- raises MR033, so that whatever was to be committed with it is undone. A repeat with the same answer is harmless.
create or replace function millrace.finish_request(p_scope text, p_key text, p_token uuid, p_status integer, p_headers jsonb, p_body bytea) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if p_status is null or p_status not between 100 and 599 or octet_length(p_body) > 262144 or octet_length(p_headers::text) > 16384 then
    raise exception 'status must be between 100 and 599, a body that is kept has 262144 bytes at most, headers 16384' using errcode = 'MR024';
  end if;
  update millrace.http_request r set state = 'done', status = p_status, headers = p_headers, body = p_body
   where r.tenant_id = millrace.current_tenant() and r.scope = millrace.request_scope(p_scope) and r.request_key = p_key and r.token = p_token;
  if not found then
    raise exception 'the request is done by somebody else' using errcode = 'MR033';
  end if;
end;
$$;
