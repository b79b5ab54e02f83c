-- millrace.actor: who to name in the audit: the user of the token with the role, else the setting millrace.actor (CLI, API),
-- else the role.
create or replace function millrace.actor() returns text
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_user uuid := millrace.current_user_id();
  v_actor text := coalesce('user:' || v_user, nullif(current_setting('millrace.actor', true), ''));
begin
  return left(concat_ws('/', v_actor, millrace.caller()), 200);
end;
$$;
