-- millrace.release_request: the request came to nothing (it was refused before it did anything, or the server is busy): the key is free again.
create or replace function millrace.release_request(p_scope text, p_key text, p_token uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  delete from millrace.http_request r
   where r.tenant_id = millrace.current_tenant() and r.scope = millrace.request_scope(p_scope) and r.request_key = p_key and r.token = p_token and r.state = 'running';
end;
$$;
