-- millrace.actor: who to name in the audit: the user of the token with the role, else the setting millrace.actor (CLI, API),
-- else the role.
create or replace function millrace.actor() returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select left(case when u.user_id is not null then 'user:' || u.user_id || '/' || millrace.caller()
                   when a.actor is not null then a.actor || '/' || millrace.caller()
                   else millrace.caller() end, 200)
    from (select millrace.current_user_id() as user_id) u,
         (select nullif(current_setting('millrace.actor', true), '') as actor) a
$$;
