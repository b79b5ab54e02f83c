-- millrace.elect: takes or keeps a duty for p_ttl. One holder at a time; a holder that stops renewing is replaced when its lease ends.
create or replace function millrace.elect(p_duty text, p_holder text, p_ttl interval) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  insert into millrace.keeper_lease as k (duty, holder, token, lease_until) values (p_duty, p_holder, gen_random_uuid(), millrace.now() + p_ttl)
  on conflict (duty) do update set holder = excluded.holder, lease_until = excluded.lease_until,
      token = case when k.holder = excluded.holder then k.token else excluded.token end
   where k.holder = excluded.holder or k.lease_until < millrace.now();
  return found;
end;
$$;
