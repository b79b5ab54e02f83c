-- millrace.reconcile: compares the counters with the places in one snapshot, corrects a difference by a delta and reports it, and
-- checks the accounting identity enqueued = completed + failed + cancelled + live. Skipped while more jobs live than p_limit.
-- Also writes the notes again of waiting jobs that nothing holds back any more, and ends documents whose job is gone. By indexes, so that it costs what waits and not what there ever was.
create or replace function millrace.reconcile(p_limit integer) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_wrong integer;
  v_broken integer;
  v_rechecked integer := millrace.recheck_blocked(p_limit);
  v_documents integer := millrace.reconcile_documents(p_limit);
begin
  if (select count(*) from (select from millrace.ready limit p_limit + 1) r) > p_limit
     or (select count(*) from (select from millrace.lane_waiting limit p_limit + 1) r) > p_limit
     or (select count(*) from (select from millrace.delayed limit p_limit + 1) d) > p_limit then
    return jsonb_build_object('checked', false, 'rechecked', v_rechecked, 'documents', v_documents);
  end if;
  with real as (
    select p.queue_id, p.tenant_id, sum(p.ready) as ready, sum(p.delayed) as delayed, sum(p.leased) as leased from (
      select r.queue_id, r.tenant_id, count(*) as ready, 0 as delayed, 0 as leased from millrace.ready r group by 1, 2
      union all select d.queue_id, d.tenant_id, 0, count(*), 0 from millrace.delayed d group by 1, 2
      union all select l.queue_id, l.tenant_id, 0, 0, count(*) from millrace.lease l group by 1, 2
      union all select w.queue_id, w.tenant_id, count(*), 0, 0 from millrace.lane_waiting w group by 1, 2
      union all select o.queue_id, o.tenant_id, 0, 0, sum(bit_count(o.held)) from millrace.claim_open o group by 1, 2) p group by 1, 2),
  shown as (
    select q.queue_id, q.tenant_id, sum(q.ready) as ready, sum(q.delayed) as delayed, sum(q.leased) as leased from (
      select c.queue_id, c.tenant_id, c.ready, c.delayed, c.leased from millrace.counter c
      union all select d.queue_id, d.tenant_id, d.ready, d.delayed, d.leased from millrace.counter_delta d) q group by 1, 2),
  wrong as (
    select coalesce(r.queue_id, s.queue_id) as queue_id, coalesce(r.tenant_id, s.tenant_id) as tenant_id,
           coalesce(r.ready, 0) - coalesce(s.ready, 0) as ready, coalesce(r.delayed, 0) - coalesce(s.delayed, 0) as delayed,
           coalesce(r.leased, 0) - coalesce(s.leased, 0) as leased
      from real r full join shown s on s.queue_id = r.queue_id and s.tenant_id = r.tenant_id),
  fix as (
    insert into millrace.counter_delta (queue_id, tenant_id, ready, delayed, leased)
    select w.queue_id, w.tenant_id, w.ready, w.delayed, w.leased from wrong w where w.ready <> 0 or w.delayed <> 0 or w.leased <> 0
    returning queue_id, tenant_id, ready, delayed, leased),
  told as (
    insert into millrace.event (at, tenant_id, kind, queue_id, data)
    select millrace.now(), f.tenant_id, 'counter.corrected', f.queue_id, jsonb_build_object('ready', f.ready, 'delayed', f.delayed, 'leased', f.leased) from fix f)
  select count(*) into v_wrong from fix;
  select count(*) into v_broken from millrace.queue_counts() c where c.enqueued <> c.completed + c.failed + c.cancelled + c.live;
  return jsonb_build_object('checked', true, 'corrected', v_wrong, 'identity_broken', v_broken, 'rechecked', v_rechecked, 'documents', v_documents);
end;
$$;
