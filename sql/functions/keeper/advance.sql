-- millrace.advance: pays what finished jobs owe others: the next of a serial key, freed concurrency, batch counts, dependents. Each note is
-- deleted in the transaction that acts on it; a key that somebody judges at this moment gets a new note. A note that fails is written
-- again behind the others, so that it holds up nobody.
create or replace function millrace.advance(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_notes millrace.handoff[];
  v_note record;
  v_message text;
  v_apart boolean := false;
begin
  with n as materialized (
    select h.handoff_id from millrace.handoff h order by h.handoff_id limit p_limit for update skip locked),
  d as (delete from millrace.handoff h using n where h.handoff_id = n.handoff_id returning h.*)
  select array_agg(row(d.*)::millrace.handoff order by d.handoff_id) into v_notes from d;
  if v_notes is null then
    return 0;
  end if;
  -- Keys together; where that fails, each by itself.
  begin
    perform millrace.advance_keys(array(
      select distinct (n.tenant_id, n.queue_id, n.wait_key)::millrace.held_key from unnest(v_notes) n where n.wait_key is not null order by 1));
  exception when others then
    v_apart := true;
  end;
  for v_note in
    select n.kind, n.tenant_id, n.queue_id, n.wait_key, n.job_id, n.batch_id, sum(n.completed)::integer as completed,
           sum(n.failed)::integer as failed, sum(n.cancelled)::integer as cancelled
      from unnest(v_notes) n where n.wait_key is null or v_apart group by 1, 2, 3, 4, 5, 6
     order by n.kind = 'batch', n.tenant_id, n.queue_id, n.wait_key, n.job_id, n.batch_id
  loop
    begin
      case v_note.kind
        when 'dependency' then perform millrace.advance_dependent(v_note.job_id);
        when 'batch' then perform millrace.advance_batch(v_note.batch_id, v_note.completed, v_note.failed, v_note.cancelled);
        else perform millrace.advance_keys(array[(v_note.tenant_id, v_note.queue_id, v_note.wait_key)::millrace.held_key]);
      end case;
    exception when others then
      get stacked diagnostics v_message = message_text;
      insert into millrace.handoff (kind, tenant_id, queue_id, wait_key, job_id, batch_id, completed, failed, cancelled)
      values (v_note.kind, v_note.tenant_id, v_note.queue_id, v_note.wait_key, v_note.job_id, v_note.batch_id, v_note.completed, v_note.failed,
              v_note.cancelled);
      raise warning 'advance of % failed and will be tried again: %', v_note.kind, v_message;
    end;
  end loop;
  return cardinality(v_notes);
end;
$$;
