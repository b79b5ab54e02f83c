-- millrace.recheck_blocked: finds waiting jobs that nothing holds back any more (a note lost its race against a commit) and writes
-- the note again. The safety net of serial keys, concurrency keys and dependencies.
create or replace function millrace.recheck_blocked(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_keys integer;
  v_jobs integer;
begin
  with recursive k as (
    (select d.queue_id, d.tenant_id, d.wait_key from millrace.delayed d where d.wait_key is not null
      order by d.queue_id, d.tenant_id, d.wait_key limit 1)
    union all
    select n.queue_id, n.tenant_id, n.wait_key from k cross join lateral (
      select d.queue_id, d.tenant_id, d.wait_key from millrace.delayed d
       where d.wait_key is not null and (d.queue_id, d.tenant_id, d.wait_key) > (k.queue_id, k.tenant_id, k.wait_key)
       order by d.queue_id, d.tenant_id, d.wait_key limit 1) n)
  insert into millrace.handoff (kind, tenant_id, queue_id, wait_key)
  select case when left(k.wait_key, 2) = 's:' then 'serial' else 'concurrency' end, k.tenant_id, k.queue_id, k.wait_key
    from k join millrace.queue q on q.queue_id = k.queue_id
   where (select count(*) from millrace.lease l where l.queue_id = k.queue_id and l.tenant_id = k.tenant_id and l.lease_key = k.wait_key)
         < case when left(k.wait_key, 2) = 's:' then 1 else coalesce(q.key_concurrency_max, 2147483647) end
     and (left(k.wait_key, 2) = 'c:' or exists (
           select from millrace.delayed d where d.reason = 'serial' and d.job_id = (
             select m.job_id from millrace.serial_member m where m.tenant_id = k.tenant_id and m.queue_id = k.queue_id
                and m.serial_key = substr(k.wait_key, 3) order by m.seq limit 1)))
   limit p_limit;
  get diagnostics v_keys = row_count;
  insert into millrace.handoff (kind, tenant_id, job_id)
  select distinct 'dependency', y.tenant_id, y.job_id from millrace.dependency y
   where millrace.place_of(y.depends_on) in ('final', 'not_found')
     and (y.mode = 'any' or not exists (
           select from millrace.dependency o where o.job_id = y.job_id and not millrace.place_of(o.depends_on) in ('final', 'not_found')))
   limit p_limit;
  get diagnostics v_jobs = row_count;
  return v_keys + v_jobs;
end;
$$;
