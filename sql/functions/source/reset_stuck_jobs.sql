-- millrace.reset_stuck_jobs: takes back jobs whose lease has run out, at most 1000 of them; returns how many. The keeper, or the next
-- claim in SQL-only use, does the same.
create or replace function millrace.reset_stuck_jobs() returns integer
  language sql security definer set search_path = pg_catalog, pg_temp
as $$ select millrace.reclaim(1000) $$;
