-- millrace.sample_rates: how fast each queue ends its jobs: the difference of its counters since the last sample, five seconds ago or more, smoothed
-- by half. Called by whoever folds the counters; one at a time, and nobody waits.
create or replace function millrace.sample_rates() returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
begin
  if exists (select from millrace.queue_rate r where r.sampled_at > v_now - interval '5 seconds' and r.sampled_at <= v_now)
     or not pg_try_advisory_xact_lock(7080 * 4096) then
    return;
  end if;
  insert into millrace.queue_rate as r (queue_id, sampled_at, ended, per_second)
  select c.queue_id, v_now, sum(c.completed + c.failed + c.cancelled), 0 from millrace.counter c group by c.queue_id order by c.queue_id
  on conflict (queue_id) do update
    set per_second = (r.per_second + greatest(excluded.ended - r.ended, 0) / greatest(extract(epoch from v_now - r.sampled_at)::double precision, 1)) / 2,
        ended = excluded.ended, sampled_at = v_now;
end;
$$;
