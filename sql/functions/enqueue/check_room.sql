-- millrace.check_room: refuses what would not fit: the depth limit of the queue for this tenant, the backlog limit of a provider,
-- and a request that costs more tokens than the provider grants in a whole window.
-- Follow-up jobs of a job that ends are let in whatever the depth: it leaves as they come, and to refuse them would stop the very
-- work that empties the queue.
create or replace function millrace.check_room(p_facts millrace.job_fact[], p_tenant uuid, p_follow_up boolean) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_need record;
begin
  for v_need in
    select f.queue_id, q.queue, q.depth_max, count(*) as adding
      from unnest(p_facts) f join millrace.queue q on q.queue_id = f.queue_id
     where not p_follow_up
     group by f.queue_id, q.queue, q.depth_max
  loop
    perform millrace.check_depth(v_need.queue_id, p_tenant, v_need.queue, v_need.depth_max, v_need.adding);
  end loop;
  for v_need in
    select p.provider_id, p.provider_name, p.api_endpoint, p.queue_depth_limit, count(*) as adding,
           max(f.estimated_tokens) as tokens, millrace.token_limit(p.provider_id) as token_limit
      from unnest(p_facts) f
      join millrace.job_type t on t.type_id = f.type_id
      join millrace.api_rate_limits p on p.provider_name = t.provider_name and p.api_endpoint = t.api_endpoint
     group by p.provider_id, p.provider_name, p.api_endpoint, p.queue_depth_limit
  loop
    if v_need.tokens > v_need.token_limit then
      raise exception 'estimated_tokens % is more than %:% grants in a whole window (%)',
        v_need.tokens, v_need.provider_name, v_need.api_endpoint, v_need.token_limit using errcode = 'MR014';
    end if;
    if not p_follow_up and millrace.provider_depth_exceeded(v_need.provider_id, v_need.adding::integer) then
      raise exception 'the backlog of %:% has reached its limit of % jobs',
        v_need.provider_name, v_need.api_endpoint, v_need.queue_depth_limit
        using errcode = 'MR008', hint = 'try again in 30 seconds, or raise queue_depth_limit';
    end if;
  end loop;
end;
$$;
