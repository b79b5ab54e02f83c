-- millrace.touch_api_tokens: these credentials were used lately (ids, or jtis of JWTs). Kept to five minutes, so that use costs next to nothing.
create or replace function millrace.touch_api_tokens(p_tokens text[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
begin
  with used as materialized (
    select t.token_id from millrace.api_token t
     where (t.token_id = any (array(select millrace.uuid_or_null(u) from unnest(p_tokens) u)) or t.jti = any (p_tokens))
       and (t.last_used_at is null or t.last_used_at < millrace.now() - interval '5 minutes')
     order by t.token_id for update skip locked)
  update millrace.api_token t set last_used_at = millrace.now() from used u where t.token_id = u.token_id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
