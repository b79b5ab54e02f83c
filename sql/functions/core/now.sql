-- millrace.now: the only clock of the engine. Leases are compared with the wall clock at the moment of the statement,
-- not with the start of the transaction (a long transaction must not see its lease as younger than it is).
-- Bound when it is created, and so independent of search_path and small enough to be inlined.
create or replace function millrace.now() returns timestamptz
  language sql volatile parallel safe return clock_timestamp();
