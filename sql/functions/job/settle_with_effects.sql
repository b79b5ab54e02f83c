-- millrace.settle_with_effects: settles one job and writes its follow-up jobs, events and (of a success) its output with it. Where an effect
-- is refused (unknown type, bad field) nothing of it stays: what passes (enqueue switched off, content that must be stored again) makes the
-- attempt a retry, anything else a permanent failure that names the reason. The caller sees that the outcome is another one than it gave.
create or replace function millrace.settle_with_effects(p_worker_id text, p_item millrace.moving[], p_effects jsonb) returns millrace.moving[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_taken millrace.moving[];
  v_row millrace.moving := p_item[1];
  v_state text;
  v_message text;
begin
  begin
    v_taken := millrace.take_leases(p_worker_id, p_item);
    if cardinality(v_taken) = 0 then
      return v_taken;
    end if;
    -- They belong to an outcome that it did not get.
    if (v_taken[1]).outcome <> v_row.outcome then
      p_effects := '{}';
    end if;
    -- Before the end: whoever follows the job hears of nothing behind it.
    if p_effects ? 'events' then
      if exists (select from jsonb_array_elements(p_effects -> 'events') v(item) where v.item ->> 'kind' ~ '^(job|batch)\.') then
        raise exception 'the kind of an event must not begin with job. or batch.: these are the engine''s own' using errcode = 'MR016';
      end if;
      insert into millrace.event (at, tenant_id, kind, queue_id, job_ids, data)
      select millrace.now(), (v_taken[1]).tenant_id, left(v.item ->> 'kind', 200), (v_taken[1]).queue_id, array[v_row.job_id], v.item -> 'data'
        from jsonb_array_elements(p_effects -> 'events') with ordinality v(item, i) order by v.i;
    end if;
    perform millrace.settle_core(v_taken, p_worker_id);
    if p_effects ? 'jobs' then
      perform e.job_id from millrace.enqueue_specs(
        millrace.specs_from_json((
          select coalesce(jsonb_agg(jsonb_build_object('parent_id', v_row.job_id)
                   || jsonb_strip_nulls(jsonb_build_object('correlation_id', f.correlation_id)) || j.job order by j.i), '[]')
            from jsonb_array_elements(p_effects -> 'jobs') with ordinality j(job, i), millrace.job_fact f where f.job_id = v_row.job_id)),
        (v_taken[1]).tenant_id, true) e;
    end if;
    if p_effects ? 'output' and (v_taken[1]).outcome = 'ok' then
      perform millrace.write_output(v_row.job_id, (v_taken[1]).tenant_id, p_effects -> 'output');
    end if;
    return v_taken;
  exception when others then
    get stacked diagnostics v_state = returned_sqlstate, v_message = message_text;
    if v_state !~ '^(MR|22|23)' then
      raise;
    end if;
  end;
  v_row.outcome := case when v_state in ('MR008', 'MR021', 'MR037') then 'retry' else 'permanent' end;
  v_row.result := null;
  v_row.final_reason := case when v_row.outcome = 'retry' then null else 'invalid_effects' end;
  v_row.error := jsonb_build_object('error_type', 'invalid_effects', 'message', v_message, 'sqlstate', v_state);
  v_taken := millrace.take_leases(p_worker_id, array[v_row]);
  perform millrace.settle_core(v_taken, p_worker_id);
  return v_taken;
end;
$$;
