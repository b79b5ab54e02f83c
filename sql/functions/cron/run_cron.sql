-- millrace.run_cron: the keeper's tick: enqueues the due runs of up to p_limit cron entries, of all
-- tenants, and says how many entries it dealt with.
-- Exactly once: next_due_at moves in the transaction that enqueues, under the row lock; two keepers
-- at once skip each other. A run not enqueued within a minute was missed (no keeper was up): all
-- missed runs of an entry become one ('one') or none ('skip'). An enqueue that fails is recorded
-- and the entry moves on; one whose schedule cannot be read any more is switched off. Neither stops
-- the others.
create or replace function millrace.run_cron(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := millrace.now();
  v_row record;
  v_due timestamptz;
  v_next timestamptz;
  v_last timestamptz;
  v_job uuid;
  v_error text;
  v_rows integer := 0;
  v_wanted boolean;
begin
  if p_limit is null or p_limit < 1 then
    raise exception 'p_limit must be at least 1' using errcode = 'MR024';
  end if;
  for v_row in
    select c.cron_id, c.tenant_id, c.name, c.schedule, c.time_zone, c.job, c.missed, c.next_due_at,
           c.last_due_at, c.last_job_id
      from millrace.cron c
     where c.enabled and c.next_due_at <= v_now
     order by c.next_due_at
     limit p_limit
       for update skip locked
  loop
    v_rows := v_rows + 1;
    v_next := v_row.next_due_at;
    v_last := v_row.last_due_at;
    v_job := v_row.last_job_id;
    v_error := null;
    begin
      while v_next <= v_now loop
        v_due := v_next;
        if v_due < v_now - interval '1 minute' then
          v_wanted := v_row.missed = 'one';
          v_next := millrace.cron_next(v_row.schedule, v_now - interval '1 minute',
                                       v_row.time_zone);
        else
          v_wanted := true;
          v_next := millrace.cron_next(v_row.schedule, v_due, v_row.time_zone);
        end if;
        if v_wanted then
          v_last := v_due;
          begin
            v_job := millrace.enqueue_cron(v_row.tenant_id, v_row.name, v_row.job);
          exception when others then
            -- A clash with another transaction or a full disk is nobody's mistake: due again at the
            -- next tick.
            if left(sqlstate, 2) in ('40', '53') then
              v_next := v_due;
              v_rows := v_rows - 1;
            end if;
            v_error := format('%s: %s', sqlstate, sqlerrm);
            exit when v_next = v_due;
          end;
        end if;
      end loop;
      update millrace.cron c
         set next_due_at = v_next, last_due_at = v_last, last_job_id = v_job,
             last_error = left(v_error, 1000)
       where c.cron_id = v_row.cron_id;
    exception when others then
      update millrace.cron c
         set enabled = false,
             last_error = left(format('switched off: %s: %s', sqlstate, sqlerrm), 1000)
       where c.cron_id = v_row.cron_id;
    end;
  end loop;
  return v_rows;
end;
$$;
