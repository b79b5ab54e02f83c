-- millrace.maintain_partitions: makes one partition of the coming time, or drops one whose retention has passed; 'more' says that another call
-- may find more to do. One step a call, so that a transaction never holds the lock of one parent while it waits for another's. Where
-- a lock cannot be had within half a second the step is left for a later call: that is less than deadlock_timeout, so it is
-- always this function that gives way, never a settlement that meets it.
create or replace function millrace.maintain_partitions() returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
  v_now timestamptz := millrace.now();
  v_days integer := millrace.config_integer('partition.days', 7);
  v_keep_after timestamptz := v_now - make_interval(days => millrace.config_integer('retention.history_days', 30));
  v_start timestamptz;
  v_oldest timestamptz;
  v_table text;
  v_part record;
begin
  for v_n in 0 .. 2 loop
    v_start := to_timestamp((floor(extract(epoch from v_now) / (v_days * 86400)) + v_n) * v_days * 86400);
    if millrace.make_job_partition(v_start, v_start + make_interval(days => v_days)) > 0 then
      return jsonb_build_object('made', 1, 'dropped', 0, 'expired', 0, 'more', true);
    end if;
    v_start := date_trunc('day', v_now at time zone 'UTC') at time zone 'UTC' + make_interval(days => v_n);
    foreach v_table in array array['event', 'claim', 'claim_done'] loop
      if millrace.make_time_partition(v_table, v_start, v_start + interval '1 day') > 0 then
        return jsonb_build_object('made', 1, 'dropped', 0, 'expired', 0, 'more', true);
      end if;
    end loop;
    v_start := (date_trunc('month', v_now at time zone 'UTC') + make_interval(months => v_n)) at time zone 'UTC';
    if millrace.make_time_partition('audit', v_start, ((v_start at time zone 'UTC') + interval '1 month') at time zone 'UTC') > 0 then
      return jsonb_build_object('made', 1, 'dropped', 0, 'expired', 0, 'more', true);
    end if;
  end loop;
  for v_part in select p.suffix from millrace.job_partitions() p where p.ends_at < v_keep_after order by p.ends_at loop
    if millrace.drop_job_partition(v_part.suffix, v_keep_after) > 0 then
      return jsonb_build_object('made', 0, 'dropped', 1, 'expired', 0, 'more', true);
    end if;
  end loop;
  -- What a claim did is known as long as one of its jobs may be: they were enqueued before it.
  v_oldest := least(v_keep_after, (select min(p.starts_at) from millrace.job_partitions() p)) - interval '1 day';
  if millrace.drop_time_partitions('claim', v_oldest) + millrace.drop_time_partitions('claim_done', v_oldest) > 0 then
    return jsonb_build_object('made', 0, 'dropped', 1, 'expired', 0, 'more', true);
  end if;
  if millrace.drop_time_partitions('event', v_now - make_interval(days => millrace.config_integer('retention.event_days', 7)))
     + millrace.drop_time_partitions('audit', v_now - make_interval(days => millrace.config_integer('retention.audit_days', 2555))) > 0 then
    return jsonb_build_object('made', 0, 'dropped', 1, 'expired', 0, 'more', true);
  end if;
  return jsonb_build_object('made', 0, 'dropped', 0, 'expired', millrace.expire_defaults(v_keep_after, 10000), 'more', false);
end;
$$;
