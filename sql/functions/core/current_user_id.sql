-- millrace.current_user_id: the user of the request (JWT claim sub), or null.
create or replace function millrace.current_user_id() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb := millrace.jwt_claims();
begin
  return case when v_claims is not null then millrace.uuid_or_null(v_claims ->> 'sub') end;
end;
$$;
