-- millrace.resign: gives a duty up, so that another process need not wait for the lease to end.
create or replace function millrace.resign(p_duty text, p_holder text) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  delete from millrace.keeper_lease k where k.duty = p_duty and k.holder = p_holder;
  return found;
end;
$$;
