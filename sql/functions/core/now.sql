-- millrace.now: the only clock of the engine. Leases are compared with the wall clock at the moment of the statement,
-- not with the start of the transaction (a long transaction must not see its lease as younger than it is).
create or replace function millrace.now() returns timestamptz
  language sql volatile parallel safe set search_path = pg_catalog, pg_temp
as $$ select clock_timestamp() $$;
