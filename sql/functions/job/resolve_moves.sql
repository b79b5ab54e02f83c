-- millrace.resolve_moves: decides where each job goes after its outcome: final, or waiting until when. The only place that knows
-- attempts, budgets and what a class of outcome means.
--   ok → completed; permanent → failed; cancelled → cancelled;
--   retry, partial, lost → charged, waits by the queue's backoff (or as told), failed when the attempts are used up;
--   throttled, blocked, rescheduled → free, bounded by age and number; handback → free, back to its place.
-- A job whose cancellation was asked for ends cancelled unless it succeeded or failed for good; an export of a worker process in any case (millrace.merge_outcomes).
create or replace function millrace.resolve_moves(p_rows millrace.moving[], p_now timestamptz) returns millrace.moving[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_out millrace.moving[] := '{}';
  v_row millrace.moving;
  v_policy record;
  v_max integer;
begin
  foreach v_row in array p_rows loop
    if v_row.outcome = 'ok' then
      v_row.final_status := 'completed';
    elsif v_row.outcome = 'permanent' then
      v_row.final_status := 'failed';
      v_row.final_reason := coalesce(v_row.final_reason, 'permanent');
      v_row.charged := true;
      v_row.attempt := v_row.attempt + case when v_row.token is null then 0 else 1 end;
    elsif v_row.outcome = 'cancelled' or v_row.cancel_reason is not null then
      v_row.final_status := 'cancelled';
      v_row.final_reason := coalesce(v_row.cancel_reason, v_row.final_reason, 'cancelled');
      v_row.attempt := v_row.attempt + case when v_row.token is null then 0 else 1 end;
    elsif v_row.outcome = 'handback' then
      v_row.due_at := p_now;
    else
      select q.max_age, q.max_snoozes, coalesce(t.max_attempts, q.max_attempts) as max_attempts into strict v_policy
        from millrace.queue q join millrace.job_type t on t.type_id = v_row.type_id where q.queue_id = v_row.queue_id;
      v_max := v_policy.max_attempts;
      if v_row.flags & 32 <> 0 then
        v_max := coalesce((select f.max_attempts from millrace.job_fact f where f.job_id = v_row.job_id), v_max);
      end if;
      if v_row.outcome in ('throttled', 'blocked', 'rescheduled') then
        v_row.charged := false;
        v_row.snooze_count := v_row.snooze_count + 1;
        if v_row.snooze_count > v_policy.max_snoozes or p_now - v_row.born_at > v_policy.max_age then
          v_row.final_status := 'failed';
          v_row.final_reason := 'expired';
        elsif v_row.outcome = 'blocked' then
          v_row.wait_reason := 'deferred';
          v_row.due_at := coalesce(v_row.until_at, p_now + interval '60 seconds');
        elsif v_row.outcome = 'rescheduled' and millrace.take_wake(v_row.job_id) then
          -- What it waits for was told of while it was being delivered.
          v_row.wait_reason := 'scheduled';
          v_row.due_at := p_now;
        else
          v_row.wait_reason := 'scheduled';
          v_row.due_at := coalesce(v_row.until_at, p_now + millrace.backoff_delay(v_row.queue_id, least(v_row.snooze_count, 5)));
        end if;
      else
        v_row.charged := true;
        v_row.attempt := v_row.attempt + 1;
        if v_row.crash_count >= 3 then
          v_row.final_status := 'failed';
          v_row.final_reason := 'poison';
        elsif v_row.attempt >= v_max then
          v_row.final_status := 'failed';
          v_row.final_reason := case when v_row.outcome = 'lost' then 'exceeded_max_retries_after_timeout' else 'exceeded_max_retries' end;
        else
          v_row.wait_reason := 'retrying';
          v_row.due_at := coalesce(v_row.until_at, p_now + millrace.backoff_delay(v_row.queue_id, v_row.attempt));
          v_row.flags := v_row.flags | case when v_row.carry is null then 0 else 64 end;
        end if;
      end if;
    end if;
    v_out := v_out || v_row;
  end loop;
  return v_out;
end;
$$;
