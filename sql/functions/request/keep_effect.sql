-- millrace.keep_effect: keeps the answer of the SQL call that is the whole effect of a request, in its transaction, and passes it on: either both are
-- there afterwards, or neither. Without a token there is nothing to keep. Fence as in millrace.finish_request.
create or replace function millrace.keep_effect(p_scope text, p_key text, p_token uuid, p_effect jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if p_token is null then
    return p_effect;
  end if;
  if octet_length(p_effect::text) > 1048576 then
    raise exception 'an answer that is kept has 1048576 bytes at most' using errcode = 'MR004';
  end if;
  update millrace.http_request r set state = 'done', effect = coalesce(p_effect, 'null')
   where r.tenant_id = millrace.current_tenant() and r.scope = millrace.request_scope(p_scope) and r.request_key = p_key and r.token = p_token and r.state = 'running';
  if not found then
    raise exception 'the request is done by somebody else' using errcode = 'MR033';
  end if;
  return p_effect;
end;
$$;
