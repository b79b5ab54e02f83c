-- millrace.claim_order: the groups of ready jobs and the lanes, in the order in which a claim serves them. Groups go by effective priority
-- (priority plus waiting time by the queue's age_step). Round 1 gives every tenant its share in random order, so that none is
-- starved by another's backlog; round 2 hands out what is left by effective priority.
create or replace function millrace.claim_order(
    p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid, p_limit integer, p_take_capacity boolean, p_marks jsonb, p_alone boolean)
  returns table (round integer, turn double precision, quota integer, queue_id smallint, type_id smallint, tenant_id uuid, priority smallint,
    mark bigint, lane_id integer, ready_at timestamptz, age_step interval, provider_id integer, plain boolean, effective numeric, next_effective numeric)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with g as materialized (
    select c.queue_id, c.type_id, c.tenant_id, c.priority, c.mark, null::integer as lane_id, c.ready_at
      from millrace.claim_groups(p_queue_ids, p_type_ids, p_tenant) c where p_marks is null and not p_alone
    union all
    select c.queue_id, c.type_id, c.tenant_id, c.priority, c.mark, null, c.ready_at
      from millrace.claim_marked_groups(p_marks, p_queue_ids, p_type_ids) c where p_marks is not null and not p_alone
    union all
    select c.queue_id, c.type_id, c.tenant_id, c.priority, c.mark, null, c.ready_at
      from millrace.claim_suspects(p_queue_ids, p_type_ids, p_tenant) c where p_alone
    union all
    select c.queue_id, c.type_id, c.tenant_id, c.priority, -9223372036854775808, c.lane_id, c.ready_at
      from millrace.lane_groups(p_queue_ids, p_type_ids, p_tenant,
             case when p_marks is not null then array(select substr(k, 6)::integer from jsonb_object_keys(p_marks) k where k like 'lane:%') end) c
     where not p_alone),
  e as (
    select g.*, t.weight, q.age_step, p.provider_id, q.concurrency_max is null and (jt.provider_name is null or (p.provider_id is not null and millrace.token_limit(p.provider_id) is null)) as plain,
           g.priority + case when q.age_step is null then 0
             else floor(extract(epoch from millrace.now() - g.ready_at) / extract(epoch from q.age_step)) end as effective
      from g join millrace.queue q on q.queue_id = g.queue_id join millrace.job_type jt on jt.type_id = g.type_id
      cross join lateral (select coalesce((select w.weight from millrace.tenant_weight w where w.tenant_id = g.tenant_id), 1) as weight) t
      left join millrace.api_rate_limits p on p.provider_name = jt.provider_name and p.api_endpoint = jt.api_endpoint and p_take_capacity),
  share as (
    select s.tenant_id, -ln(1 - random()) / s.weight as turn,
           greatest(1, floor(p_limit * s.weight::numeric / sum(s.weight) over ()))::integer as quota
      from (select distinct e.tenant_id, e.weight from e) s)
  select 1, s.turn, s.quota, e.queue_id, e.type_id, e.tenant_id, e.priority, e.mark, e.lane_id, e.ready_at, e.age_step, e.provider_id, e.plain, e.effective,
         lead(e.effective) over (partition by e.tenant_id order by e.effective desc, e.ready_at)
    from e join share s on s.tenant_id = e.tenant_id
  union all
  select 2, 0, p_limit, e.queue_id, e.type_id, e.tenant_id, e.priority, e.mark, e.lane_id, e.ready_at, e.age_step, e.provider_id, e.plain, e.effective, null
    from e
  order by 1, 2, 6, 14 desc, 10, 5, 7, 9 nulls first;
end;
$$;
