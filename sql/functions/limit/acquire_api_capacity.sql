-- millrace.acquire_api_capacity: takes one request, its tokens and a concurrency slot, all or none
-- (L-04, E03); false means wait and ask again. The slot is anonymous and ends after slot_lease when
-- it is not released. Not idempotent: every true is one grant.
create or replace function millrace.acquire_api_capacity(
    p_provider_name text, p_api_endpoint text, p_estimated_tokens integer default 1000)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_provider integer;
  v_limit record;
  v_room record;
  -- A caller's estimate is clamped: nothing may lower a counter (E06).
  v_cost bigint := greatest(coalesce(p_estimated_tokens, 1000), 1);
begin
  select p.provider_id into v_provider
    from millrace.api_rate_limits p
   where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint
     for no key update;
  select e.* into v_limit from millrace.effective_limit(v_provider) e;
  if v_limit.status is distinct from 'active' then
    raise exception 'No active rate limit configuration for %:%', p_provider_name, p_api_endpoint
      using errcode = 'MR013',
            hint = 'millrace.limits_overview() lists the providers and their status';
  end if;
  if v_cost > least(v_limit.tokens_per_minute, v_limit.tokens_per_hour) then
    raise exception 'p_estimated_tokens % is more than %:% grants in a whole window (%)', v_cost,
      p_provider_name, p_api_endpoint, least(v_limit.tokens_per_minute, v_limit.tokens_per_hour)
      using errcode = 'MR014', hint = 'split the request, or raise the token limit';
  end if;

  select r.* into v_room from millrace.capacity_room(v_provider) r;
  if v_room.requests < 1 or v_room.tokens < v_cost then
    update millrace.api_rate_limits p
       set rate_limit_violations = p.rate_limit_violations + 1, last_rate_limit_hit = millrace.now()
     where p.provider_id = v_provider;
    return false;
  end if;
  perform millrace.capacity_take(v_provider, array[null::uuid], array[null::uuid],
                                 millrace.caller(), array[v_cost], null);
  return true;
end;
$$;
