-- millrace.check_depth: refuses jobs beyond the depth limit of a queue for this tenant. Depths come from the counters the keeper folds
-- every second and, near the limit, from the deltas since: a bound, not an exact count.
create or replace function millrace.check_depth(p_queue_id smallint, p_tenant uuid, p_queue text, p_max bigint, p_adding bigint) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiting bigint := coalesce((select c.ready + c.delayed from millrace.counter c where c.queue_id = p_queue_id and c.tenant_id = p_tenant), 0);
begin
  -- A million is more than a second brings.
  if v_waiting + p_adding + 1000000 <= p_max then
    return;
  end if;
  v_waiting := v_waiting + coalesce((
    select sum(d.ready + d.delayed) from (select cd.ready, cd.delayed from millrace.counter_delta cd
                                           where cd.queue_id = p_queue_id and cd.tenant_id = p_tenant limit 2000) d), 0);
  if v_waiting + p_adding > p_max then
    raise exception 'queue % holds % waiting jobs of this tenant, its limit is %', p_queue, v_waiting, p_max
      using errcode = 'MR008', hint = 'try again in 30 seconds, or raise depth_max of the queue';
  end if;
end;
$$;
