-- millrace.request_scope: whose key it is: keys of one user never meet those of another, whatever the route.
create or replace function millrace.request_scope(p_scope text) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return left(coalesce(millrace.current_user_id()::text, '') || ' ' || p_scope, 500);
end;
$$;
