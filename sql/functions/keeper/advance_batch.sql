-- millrace.advance_batch: adds finished members to a batch; when the last one of a sealed batch has finished, the callback job is
-- enqueued in the same transaction, so exactly once.
create or replace function millrace.advance_batch(p_batch_id uuid, p_completed integer, p_failed integer, p_cancelled integer) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch millrace.batch;
  v_job uuid;
  v_state text;
  v_message text;
begin
  update millrace.batch b set completed = b.completed + p_completed, failed = b.failed + p_failed, cancelled = b.cancelled + p_cancelled
   where b.batch_id = p_batch_id returning b.* into v_batch;
  if not found or v_batch.sealed_at is null or v_batch.finished_at is not null
     or v_batch.completed + v_batch.failed + v_batch.cancelled < v_batch.total then
    -- For those who watch it; one for all members that ended since the last.
    if p_completed + p_failed + p_cancelled > 0 and v_batch.finished_at is null then
      insert into millrace.event (at, tenant_id, kind, data)
      values (millrace.now(), v_batch.tenant_id, 'batch.progress', jsonb_build_object('batch_id', p_batch_id, 'total', v_batch.total,
              'completed', v_batch.completed, 'failed', v_batch.failed, 'cancelled', v_batch.cancelled));
    end if;
    return;
  end if;
  if v_batch.callback is not null and (v_batch.callback_on = 'finished' or v_batch.completed = v_batch.total) then
    begin
      select e.job_id into v_job from millrace.enqueue_specs(millrace.specs_from_json(
        v_batch.callback || jsonb_build_object('payload', coalesce(v_batch.callback -> 'payload', '{}') || jsonb_build_object(
          'batch_id', p_batch_id, 'total', v_batch.total, 'completed', v_batch.completed, 'failed', v_batch.failed, 'cancelled', v_batch.cancelled))),
        v_batch.tenant_id) e;
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_message = message_text;
      -- What passes (a full queue, enqueue switched off, a deadlock) is tried again: the batch is not finished before.
      if v_state in ('MR008', 'MR021') or v_state ~ '^(40|53|55|57)' then
        insert into millrace.handoff (kind, tenant_id, batch_id) values ('batch', v_batch.tenant_id, p_batch_id);
        return;
      end if;
      insert into millrace.event (at, tenant_id, kind, data)
      values (millrace.now(), v_batch.tenant_id, 'batch.callback_failed', jsonb_build_object('batch_id', p_batch_id, 'error', v_message));
    end;
  end if;
  update millrace.batch b set finished_at = millrace.now(), callback_job_id = v_job where b.batch_id = p_batch_id;
  insert into millrace.event (at, tenant_id, kind, data)
  values (millrace.now(), v_batch.tenant_id, 'batch.finished', jsonb_build_object('batch_id', p_batch_id, 'total', v_batch.total,
          'completed', v_batch.completed, 'failed', v_batch.failed, 'cancelled', v_batch.cancelled));
end;
$$;
