-- millrace.keeper_is_stale: nobody holds the keeper's duty: the source-named claim functions then do a little of it themselves.
create or replace function millrace.keeper_is_stale() returns boolean
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select not exists (select from millrace.keeper_lease k where k.duty = 'keeper' and k.lease_until > millrace.now()));
end;
$$;
