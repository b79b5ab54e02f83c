-- millrace.maintain_partitions: makes one partition of the coming time, or drops one whose retention has passed, or trims what that leaves of
-- the audit (millrace.trim_audit); 'more' says that another call may find more to do. One step a call, so that a transaction never holds the
-- lock of one parent while it waits for another's. Where a lock cannot be had within half a second the step is left for a later call: that is
-- less than deadlock_timeout, so it is always this function that gives way, never a settlement that meets it.
-- The coming time is the next partition, and one more where that begins within two days: each is one more to open for whoever looks a
-- job up.
-- Jobs and claims are cut by partition.days, events by day, audit by month; all of them by partition.minutes where that is set, for
-- installations that keep little for a short time; a partition that was made for longer ends early (millrace.narrow_partitions). Likewise retention.*_minutes take precedence over retention.*_days.
create or replace function millrace.maintain_partitions() returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
  v_now timestamptz := millrace.now();
  v_minutes integer := millrace.config_integer('partition.minutes', null);
  v_step interval := make_interval(mins => coalesce(v_minutes, millrace.config_integer('partition.days', 7) * 1440));
  v_keep_after timestamptz := v_now - millrace.retention('history', 30);
  v_lead timestamptz := v_now + least(2 * v_step, interval '2 days');
  v_start timestamptz;
  v_cut record;
  v_part record;
  v_oldest timestamptz;
  v_trim jsonb;
begin
  if millrace.narrow_partitions(v_now, v_step, array['claim', 'claim_done'] || case when v_minutes is not null then array['event', 'audit'] end) > 0 then
    return jsonb_build_object('made', 0, 'dropped', 0, 'expired', 0, 'more', true);
  end if;
  for v_n in 0 .. 2 loop
    v_start := millrace.partition_start(v_now, v_step) + v_n * v_step;
    if (v_n <= 1 or v_start <= v_lead) and millrace.make_job_partition(v_start, v_start + v_step) > 0 then
      return jsonb_build_object('made', 1, 'dropped', 0, 'expired', 0, 'more', true);
    end if;
    for v_cut in
      select c.name, c.starts_at, c.ends_at from (values
        ('claim', v_start, v_start + v_step), ('claim_done', v_start, v_start + v_step),
        ('event', millrace.partition_start(v_now, interval '1 day') + v_n * interval '1 day', millrace.partition_start(v_now, interval '1 day') + (v_n + 1) * interval '1 day'),
        ('audit', (date_trunc('month', v_now at time zone 'UTC') + make_interval(months => v_n)) at time zone 'UTC',
                  (date_trunc('month', v_now at time zone 'UTC') + make_interval(months => v_n + 1)) at time zone 'UTC')) c(name, starts_at, ends_at)
       where v_minutes is not null or v_n <= 1 or c.starts_at <= v_lead
    loop
      if millrace.make_time_partition(v_cut.name, case when v_minutes is null then v_cut.starts_at else v_start end,
                                      case when v_minutes is null then v_cut.ends_at else v_start + v_step end) > 0 then
        return jsonb_build_object('made', 1, 'dropped', 0, 'expired', 0, 'more', true);
      end if;
    end loop;
  end loop;
  for v_part in select p.suffix from millrace.job_partitions() p where p.ends_at < v_keep_after order by p.ends_at loop
    if millrace.drop_job_partition(v_part.suffix, v_keep_after) > 0 then
      return jsonb_build_object('made', 0, 'dropped', 1, 'expired', 0, 'more', true);
    end if;
  end loop;
  -- What a claim did is known as long as one of its jobs may be: they were enqueued before it.
  v_oldest := least(v_keep_after, (select min(p.starts_at) from millrace.job_partitions() p)) - case when v_minutes is null then interval '1 day' else v_step end;
  for v_cut in
    select * from (values ('claim', v_oldest), ('claim_done', v_oldest), ('event', v_now - millrace.retention('event', 7)),
                          ('audit', v_now - millrace.retention('audit', 2555))) c(name, before)
  loop
    if millrace.drop_time_partitions(v_cut.name, v_cut.before) > 0 then
      return jsonb_build_object('made', 0, 'dropped', 1, 'expired', 0, 'more', true);
    end if;
  end loop;
  v_trim := millrace.trim_audit(20000);
  if (v_trim ->> 'more')::boolean then
    return jsonb_build_object('made', 0, 'dropped', 0, 'expired', 0, 'trimmed', v_trim -> 'trimmed', 'more', true);
  end if;
  return jsonb_build_object('made', 0, 'dropped', 0, 'expired', millrace.expire_defaults(v_keep_after, 10000), 'trimmed', v_trim -> 'trimmed', 'more', false);
end;
$$;
