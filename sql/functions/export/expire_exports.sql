-- millrace.expire_exports: removes exports past their time with their objects (X-22), each by itself: one that fails stops no other. Of the tenant of the
-- call, where it is confined to one. What is known of orders a month old goes too: their jobs have ended long ago. This is the way by hand; by itself it happens once a day
-- (millrace.sweep_exports).
create or replace function millrace.expire_exports(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return millrace.clear_exports(millrace.now(), p_limit);
end;
$$;
