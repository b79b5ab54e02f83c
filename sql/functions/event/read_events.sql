-- millrace.read_events: what was committed since a position, at most p_limit events: the global tail that one reader per server process follows.
--
-- Numbers of events are drawn before their transactions commit, so whoever asks for "all above n" skips what commits late. As in lanes, the order is
-- (xid, event_id), and a position is the last event read together with the transactions below it that were still running then (late_xids, and how
-- far each was read): their events are read when a later snapshot shows that they ended. Nobody waits for a long transaction of somebody else.
--
-- The first row has no event: `snapshot` tells what this call could see, from which the reader makes its next position. Then come events of
-- late transactions (late = true), then those behind the position, both in order. p_expand: events about the jobs of a lane name them.
create or replace function millrace.read_events(p_xid xid8, p_seq bigint, p_late_xids xid8[], p_late_seqs bigint[], p_limit integer, p_expand boolean default true)
  returns table (snapshot text, too_old boolean, late boolean, xid xid8, event_id bigint, at timestamptz, tenant_id uuid, kind text, queue text, job_ids uuid[], data jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_now pg_snapshot := pg_current_snapshot();
  v_left integer := least(greatest(coalesce(p_limit, 1000), 1), 10000);
  v_count integer;
begin
  return query select v_now::text, p_xid >= pg_snapshot_xmax(v_now) or exists (select from millrace.event_floor f where f.xid >= p_xid), false, null::xid8, null::bigint,
                      null::timestamptz, null::uuid, null::text, null::text, null::uuid[], null::jsonb;
  return query
  select null::text, false, true, e.xid, e.event_id, e.at, e.tenant_id, e.kind, q.queue,
         case when p_expand and e.job_ids = '{}' and e.data ? 'claim' then millrace.claim_jobs_of(e.data) else e.job_ids end, e.data
    from (select l.x, l.s from unnest(p_late_xids, p_late_seqs) l(x, s) where pg_visible_in_snapshot(l.x, v_now) order by l.x) l
    cross join lateral (select v.* from millrace.event v where v.xid = l.x and v.event_id > l.s order by v.xid, v.event_id limit v_left) e
    left join millrace.queue q on q.queue_id = e.queue_id
   order by e.xid, e.event_id limit v_left;
  get diagnostics v_count = row_count;
  v_left := v_left - v_count;
  if v_left > 0 then
    return query
    select null::text, false, false, e.xid, e.event_id, e.at, e.tenant_id, e.kind, q.queue,
           case when p_expand and e.job_ids = '{}' and e.data ? 'claim' then millrace.claim_jobs_of(e.data) else e.job_ids end, e.data
      from (select v.* from millrace.event v where (v.xid, v.event_id) > (p_xid, p_seq) order by v.xid, v.event_id limit v_left) e
      left join millrace.queue q on q.queue_id = e.queue_id
     order by e.xid, e.event_id;
  end if;
end;
$$;
