-- millrace.provider_depth_exceeded: whether p_adding more jobs would take the backlog of a provider
-- over its queue_depth_limit (L-16). A bound, not a lock: callers at the same moment do not see
-- each other.
create or replace function millrace.provider_depth_exceeded(p_provider_id integer, p_adding integer)
  returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_max bigint;
begin
  select p.queue_depth_limit into v_max
    from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  if v_max is null then
    return false;
  end if;
  if p_adding > v_max then
    return true;
  end if;
  return millrace.provider_waiting(p_provider_id, v_max + 1) + p_adding > v_max;
end;
$$;
