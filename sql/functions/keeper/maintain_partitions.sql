-- millrace.maintain_partitions: makes the partitions of the coming time and drops those whose retention has passed. Locks on the
-- parents are short; where one cannot be had within half a second, the next run tries again. That is less than deadlock_timeout,
-- so it is always this function that gives way, never a settlement that meets it.
create or replace function millrace.maintain_partitions() returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
  v_now timestamptz := millrace.now();
  v_days integer := millrace.config_integer('partition.days', 7);
  v_start timestamptz;
  v_made integer := 0;
  v_dropped integer := 0;
  v_expired integer;
  v_part record;
begin
  for v_n in 0 .. 2 loop
    v_start := to_timestamp((floor(extract(epoch from v_now) / (v_days * 86400)) + v_n) * v_days * 86400);
    v_made := v_made + millrace.make_job_partition(v_start, v_start + make_interval(days => v_days));
    v_start := date_trunc('day', v_now at time zone 'UTC') at time zone 'UTC' + make_interval(days => v_n);
    v_made := v_made + millrace.make_time_partition('event', v_start, v_start + interval '1 day');
    v_start := (date_trunc('month', v_now at time zone 'UTC') + make_interval(months => v_n)) at time zone 'UTC';
    v_made := v_made + millrace.make_time_partition('audit', v_start,
      ((v_start at time zone 'UTC') + interval '1 month') at time zone 'UTC');
  end loop;
  for v_part in select p.suffix, p.ends_at from millrace.job_partitions() p
                 where p.ends_at < v_now - make_interval(days => millrace.config_integer('retention.history_days', 30)) order by p.ends_at loop
    v_dropped := v_dropped + millrace.drop_job_partition(v_part.suffix, v_now - make_interval(days => millrace.config_integer('retention.history_days', 30)));
  end loop;
  v_expired := millrace.expire_defaults(v_now - make_interval(days => millrace.config_integer('retention.history_days', 30)), 10000);
  v_dropped := v_dropped + millrace.drop_time_partitions('event', v_now - make_interval(days => millrace.config_integer('retention.event_days', 7)));
  v_dropped := v_dropped + millrace.drop_time_partitions('audit', v_now - make_interval(days => millrace.config_integer('retention.audit_days', 2555)));
  return jsonb_build_object('made', v_made, 'dropped', v_dropped, 'expired', v_expired);
end;
$$;
