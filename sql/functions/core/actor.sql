-- millrace.actor: who to name in the audit: the user of the token with the role, else the setting millrace.actor (CLI, API),
-- else the role.
create or replace function millrace.actor() returns text
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims text := current_setting('request.jwt.claims', true);
  -- Claims without that word name no user, and need not be read. A backslash may hide it.
  v_user uuid := case when strpos(v_claims, '"sub"') > 0 or strpos(v_claims, chr(92)) > 0 then millrace.current_user_id() end;
  v_actor text := coalesce('user:' || v_user, nullif(current_setting('millrace.actor', true), ''));
begin
  return left(concat_ws('/', v_actor, millrace.caller()), 200);
end;
$$;
