-- millrace.advance: pays what finished jobs owe others: the next of a serial key, freed concurrency, batch counts, dependents. Each note is
-- deleted in the transaction that acts on it; a key that somebody judges at this moment gets a new note.
create or replace function millrace.advance(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_notes millrace.handoff[];
  v_note record;
begin
  with n as materialized (
    select h.handoff_id from millrace.handoff h order by h.handoff_id limit p_limit for update skip locked),
  d as (delete from millrace.handoff h using n where h.handoff_id = n.handoff_id returning h.*)
  select array_agg(row(d.*)::millrace.handoff order by d.handoff_id) into v_notes from d;
  if v_notes is null then
    return 0;
  end if;
  for v_note in
    select distinct n.kind, n.tenant_id, n.queue_id, n.wait_key from unnest(v_notes) n where n.kind in ('serial', 'concurrency')
     order by n.tenant_id, n.queue_id, n.wait_key
  loop
    perform millrace.advance_key(v_note.tenant_id, v_note.queue_id, v_note.wait_key);
  end loop;
  for v_note in select distinct n.job_id from unnest(v_notes) n where n.kind = 'dependency' order by n.job_id loop
    perform millrace.advance_dependent(v_note.job_id);
  end loop;
  for v_note in
    select n.batch_id, sum(n.completed)::integer as completed, sum(n.failed)::integer as failed, sum(n.cancelled)::integer as cancelled
      from unnest(v_notes) n where n.kind = 'batch' group by n.batch_id order by n.batch_id
  loop
    perform millrace.advance_batch(v_note.batch_id, v_note.completed, v_note.failed, v_note.cancelled);
  end loop;
  return cardinality(v_notes);
end;
$$;
