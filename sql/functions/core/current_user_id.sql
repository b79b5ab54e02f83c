-- millrace.current_user_id: the user of the request (JWT claim sub), or null.
create or replace function millrace.current_user_id() returns uuid
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$ select millrace.uuid_or_null(millrace.jwt_claims() ->> 'sub') $$;
