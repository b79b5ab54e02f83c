-- millrace.fold_counters: adds the appended deltas to the counters; both change in one transaction, so their sum is always right. And notes the rates
-- at which queues end their jobs.
create or replace function millrace.fold_counters() returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_count integer;
begin
  with n as materialized (
    select d.delta_id from millrace.counter_delta d order by d.delta_id limit 20000 for update skip locked),
  d as (delete from millrace.counter_delta x using n where x.delta_id = n.delta_id returning x.*),
  s as (
    select d.queue_id, d.tenant_id, sum(d.enqueued) as enqueued, sum(d.completed) as completed, sum(d.failed) as failed, sum(d.cancelled) as cancelled,
           sum(d.redriven) as redriven, sum(d.ready) as ready, sum(d.delayed) as delayed, sum(d.leased) as leased, count(*) as folded
      from d group by d.queue_id, d.tenant_id order by d.queue_id, d.tenant_id),
  i as (
    insert into millrace.counter as c (queue_id, tenant_id, enqueued, completed, failed, cancelled, redriven, ready, delayed, leased)
    select s.queue_id, s.tenant_id, s.enqueued, s.completed, s.failed, s.cancelled, s.redriven, s.ready, s.delayed, s.leased from s
    on conflict (queue_id, tenant_id) do update set enqueued = c.enqueued + excluded.enqueued, completed = c.completed + excluded.completed,
      failed = c.failed + excluded.failed, cancelled = c.cancelled + excluded.cancelled, redriven = c.redriven + excluded.redriven,
      ready = c.ready + excluded.ready, delayed = c.delayed + excluded.delayed, leased = c.leased + excluded.leased)
  select coalesce(sum(s.folded), 0) into v_count from s;
  perform millrace.sample_rates();
  return v_count;
end;
$$;
