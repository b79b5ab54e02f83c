-- millrace.read_lane: takes up to p_limit jobs from the head of a lane, in order, and moves the head behind them. The caller puts them
-- elsewhere in the same transaction. Answered in few rows, however many they are: a row for each would cost more than to read it.
-- Nothing while another reads the lane, unless p_wait.
--
-- A lane is ordered by the transaction that wrote a job. What this reading cannot see below its new head belongs to transactions that
-- its own snapshot lists as running: exactly those are remembered, and read once they have ended. So no job is passed over, however
-- long its producer takes to commit, and none is read twice. Jobs of the reader's own transaction may lie beyond what its snapshot can
-- list, and are left for a later one.
create or replace function millrace.read_lane(p_lane_id integer, p_limit integer, p_cutoff timestamptz, p_wait boolean)
  returns setof millrace.lane_stretch language plpgsql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  v_head millrace.lane_head;
  v_gaps boolean;
  v_left integer := p_limit;
  v_read millrace.lane_stretch;
  v_claim_no bigint;
begin
  if p_wait then
    select h.* into v_head from millrace.lane_head h where h.lane_id = p_lane_id order by h.claim_no desc limit 1 for update;
  else
    select h.* into v_head from millrace.lane_head h where h.lane_id = p_lane_id order by h.claim_no desc limit 1 for update skip locked;
  end if;
  if not found then
    return;
  end if;
  if v_head.lane_xid >= pg_snapshot_xmax(pg_current_snapshot()) then
    raise exception 'this database was restored from another server' using errcode = 'MR025', hint = 'run millrace restore-check';
  end if;
  v_gaps := exists (select from millrace.lane_gap g where g.lane_id = p_lane_id);
  -- Jobs that left the lane before take a turn, and what stands behind them is read in the same call; but only so often.
  for v_round in 1 .. 100 loop
    -- In a statement of its own: the jobs must be read with a snapshot taken after the lock was had.
    with snap as materialized (select pg_current_snapshot() as s),
    line as materialized (
      select row_number() over () as place, x.* from (
        select * from (
          select true as late, f.* from unnest(v_head.late_xids, v_head.late_seqs) u(x, s) cross join snap
           cross join lateral (
             select f.lane_xid, f.seq, f.job_id, f.payload, f.job_name, f.correlation_id, f.traceparent, f.pipeline, f.stage, f.parent_id, f.created_at
               from millrace.job_fact f where f.lane_id = p_lane_id and f.lane_xid = u.x and f.seq > u.s order by f.seq limit v_left) f
           where pg_visible_in_snapshot(u.x, snap.s)
           limit v_left) l
        union all
        select * from (
          select false, f.lane_xid, f.seq, f.job_id, f.payload, f.job_name, f.correlation_id, f.traceparent, f.pipeline, f.stage, f.parent_id, f.created_at
            from snap cross join millrace.job_fact f
           where f.lane_id = p_lane_id and (f.lane_xid, f.seq) > (v_head.lane_xid, v_head.lane_seq) and f.lane_xid < pg_snapshot_xmax(snap.s)
           order by f.lane_xid, f.seq limit v_left) m
        limit v_left) x),
    -- Younger jobs of an aged lane must not overtake: the line is cut before the first of them.
    cut as materialized (
      select coalesce((select min(y.place) from line y where p_cutoff <> 'infinity' and y.created_at > p_cutoff), v_left + 1) as place),
    head as materialized (
      select coalesce(b.lane_xid, v_head.lane_xid) as lane_xid, coalesce(b.seq, v_head.lane_seq) as seq, (select least(count(*), cut.place - 1) from line) as seen, cut.place
        from cut left join lateral (select y.lane_xid, y.seq from line y where y.place < cut.place and not y.late order by y.place desc limit 1) b on true),
    -- Who runs below the new head; and late ones that were not read to their end, with the place reached.
    late as (
      select array_agg(w.x order by w.x) as xids, array_agg(w.s order by w.x) as seqs from (
        select r.x, coalesce((select k.s from unnest(v_head.late_xids, v_head.late_seqs) k(x, s) where k.x = r.x), 0) as s
          from snap cross join head cross join pg_snapshot_xip(snap.s) r(x) where r.x < head.lane_xid
        union all
        select k.x, coalesce((select max(y.seq) from line y where y.late and y.lane_xid = k.x and y.place < head.place), k.s)
          from snap cross join head cross join unnest(v_head.late_xids, v_head.late_seqs) k(x, s)
         where pg_visible_in_snapshot(k.x, snap.s) and (head.seen >= v_left or head.place <= v_left)) w),
    moved as (
      update millrace.lane_head h
         set claim_no = h.claim_no + 1, lane_xid = head.lane_xid, lane_seq = head.seq,
             late_xids = coalesce(late.xids, '{}'), late_seqs = coalesce(late.seqs, '{}')
        from head, late where head.seen > 0 and h.lane_id = p_lane_id and h.claim_no = v_head.claim_no),
    -- Taken out of the lane before: the gap has served.
    gone as (
      delete from millrace.lane_gap g using line y, cut
       where v_gaps and y.place < cut.place and g.lane_id = p_lane_id and g.lane_xid = y.lane_xid and g.seq = y.seq returning y.place)
    -- JSON has no tab or line feed outside of strings, and none unescaped in them.
    select array_agg(y.job_id), min(y.seq), max(y.seq),
           string_agg(y.job_id::text || E'\t' || y.payload::text || case when num_nonnulls(y.job_name, y.correlation_id, y.traceparent, y.pipeline, y.stage, y.parent_id) = 0 then ''
             else E'\t' || jsonb_strip_nulls(jsonb_build_object('job_name', y.job_name, 'correlation_id', y.correlation_id, 'traceparent', y.traceparent,
                                                               'pipeline', y.pipeline, 'stage', y.stage, 'parent_id', y.parent_id))::text end, E'\n')
      into v_read
      from line y, cut where y.place < cut.place and (not v_gaps or not y.place in (select g.place from gone g));
    if v_read.job_ids is not null then
      return next v_read;
      v_left := v_left - cardinality(v_read.job_ids);
    end if;
    exit when v_left <= 0 or not v_gaps;
    v_claim_no := v_head.claim_no;
    select h.* into v_head from millrace.lane_head h where h.lane_id = p_lane_id order by h.claim_no desc limit 1;
    exit when v_head.claim_no = v_claim_no;
  end loop;
end;
$$;
