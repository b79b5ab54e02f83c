-- millrace.claim_groups: the groups (queue, type, tenant, priority) that have ready jobs, with the age of their head. Jumps from
-- group to group along the claim index, so its cost is the number of groups, not of jobs. It starts at a random tenant
-- and wraps round: where there are more than 256 groups, each tenant gets its turn.
create or replace function millrace.claim_groups(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid)
  returns table (queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, ready_at timestamptz)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with recursive pair as (
    (select r.queue_id, r.type_id from millrace.ready r order by r.queue_id, r.type_id limit 1)
    union all
    select n.queue_id, n.type_id from pair p cross join lateral (
      select r.queue_id, r.type_id from millrace.ready r where (r.queue_id, r.type_id) > (p.queue_id, p.type_id)
       order by r.queue_id, r.type_id limit 1) n),
  open_pair as materialized (
    select p.queue_id, p.type_id from pair p join millrace.queue q on q.queue_id = p.queue_id
     where q.paused_at is null
       and (p_queue_ids is null or p.queue_id = any (p_queue_ids))
       and (p_type_ids is null or p.type_id = any (p_type_ids))),
  pivot as materialized (select gen_random_uuid() as at),
  span as materialized (
    select p_tenant as low, p_tenant as high where p_tenant is not null
    union all
    select v.at, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid from pivot v where p_tenant is null
    union all
    select '00000000-0000-0000-0000-000000000000'::uuid, v.at from pivot v where p_tenant is null),
  grp as (
    select p.queue_id, p.type_id, s.high, n.tenant_id, n.priority, n.ready_at
      from open_pair p cross join span s cross join lateral (
        select r.tenant_id, r.priority, r.ready_at from millrace.ready r
         where r.queue_id = p.queue_id and r.type_id = p.type_id and r.tenant_id >= s.low and r.tenant_id <= s.high
         order by r.tenant_id, r.priority, r.ready_seq limit 1) n
    union all
    select g.queue_id, g.type_id, g.high, n.tenant_id, n.priority, n.ready_at from grp g cross join lateral (
      select r.tenant_id, r.priority, r.ready_at from millrace.ready r
       where r.queue_id = g.queue_id and r.type_id = g.type_id
         and (r.tenant_id, r.priority) > (g.tenant_id, g.priority) and r.tenant_id <= g.high
       order by r.tenant_id, r.priority, r.ready_seq limit 1) n)
  select g.queue_id, g.type_id, g.tenant_id, g.priority, -9223372036854775808, g.ready_at from grp g limit 256;
end;
$$;
