-- millrace.read_lane: takes up to p_limit jobs from the head of a lane, in order, and moves the head behind them. The caller puts them
-- elsewhere in the same transaction. Answered in few rows, however many they are: a row for each would cost more than to read it.
-- Nothing while another reads the lane, unless p_wait. p_costed: with what they may cost. p_lines: with what is handed out. Jobs younger than p_cutoff stay, so that an aged lane does not overtake.
--
-- A lane is ordered by the transaction that wrote a job. What a reading cannot see below its new head belongs to transactions that
-- its own snapshot lists as running: exactly those are remembered, and read once they have ended. So no job is passed over, however
-- long its producer takes to commit, and none is read twice. Jobs of the reader's own transaction may lie beyond what its snapshot can
-- list, and are left for a later one.
create or replace function millrace.read_lane(p_lane_id integer, p_limit integer, p_cutoff timestamptz, p_wait boolean, p_costed boolean, p_lines boolean)
  returns setof millrace.stretch language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_head millrace.lane_head;
  v_late record;
  v_line record;
  v_gaps boolean;
  v_left integer := p_limit;
begin
  -- Readers stand in line for the lane's name: those who wait for a row are all woken whenever it changes, and there can be many.
  if p_wait then
    perform pg_advisory_xact_lock(7080, p_lane_id);
  elsif not pg_try_advisory_xact_lock(7080, p_lane_id) then
    return;
  end if;
  -- An empty lane is not locked, nor is one waited for whose jobs somebody is moving one by one.
  select h.* into v_head from millrace.lane_head h
   where h.lane_id = p_lane_id and (cardinality(h.late_xids) > 0 or exists (
           select from millrace.job_fact f where f.lane_id = p_lane_id and (f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq)))
   order by h.claim_no desc limit 1 for update skip locked;
  if not found and p_lane_id <> 0 then
    return;
  end if;
  if v_head.lane_xid >= pg_snapshot_xmax(pg_current_snapshot()) then
    raise exception 'this database was restored from another server' using errcode = 'MR025', hint = 'run millrace restore-check';
  end if;
  v_gaps := exists (select from millrace.lane_gap g where g.lane_id = p_lane_id);

  -- Each reading is a statement of its own: its snapshot must be taken after the lock was had.
  if cardinality(v_head.late_xids) > 0 then
    select l.jobs, l.xids, l.seqs into v_late from millrace.read_late(v_head, v_left, v_gaps, p_costed, p_lines) l;
    v_head.late_xids := v_late.xids;
    v_head.late_seqs := v_late.seqs;
    if (v_late.jobs).job_ids is not null then
      v_left := v_left - cardinality((v_late.jobs).job_ids);
      return next v_late.jobs;
    end if;
  end if;
  if p_cutoff <> 'infinity' then
    v_left := (
      select coalesce(min(y.place) - 1, v_left) from (
        select row_number() over () as place, x.created_at from (
          select f.created_at from millrace.job_fact f
           where f.lane_id = p_lane_id and (f.lane_xid, f.seq) > (v_head.lane_xid, v_head.lane_seq)
           order by f.lane_xid, f.seq limit v_left) x) y
       where y.created_at > p_cutoff);
  end if;
  -- Jobs that left the lane before take a turn, and what stands behind them is read in the same call; but only so often.
  for v_round in 1 .. 100 loop
    exit when v_left <= 0;
    select count(*) as seen, max(y.lane_xid) as lane_xid, (array_agg(y.seq))[count(*)] as seq, pg_current_snapshot() as snapshot,
           array_agg(y.job_id) filter (where not y.gone) as job_ids, min(y.seq) filter (where not y.gone) as seq_from, max(y.seq) filter (where not y.gone) as seq_to,
           string_agg(millrace.job_line(y.job_id, y.payload, y.job_name, y.correlation_id, y.traceparent, y.pipeline, y.stage, y.parent_id), E'\n')
             filter (where p_lines and not y.gone) as lines,
           (sum(greatest(y.estimated_tokens, 1)) filter (where p_costed and not y.gone))::bigint as tokens
      into v_line
      from (select f.lane_xid, f.seq, f.job_id, f.payload, f.estimated_tokens, f.job_name, f.correlation_id, f.traceparent, f.pipeline, f.stage, f.parent_id,
                   v_gaps and exists (select from millrace.lane_gap g where g.lane_id = p_lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq) as gone
              from millrace.job_fact f
             where f.lane_id = p_lane_id and (f.lane_xid, f.seq) > (v_head.lane_xid, v_head.lane_seq) and f.lane_xid < pg_snapshot_xmax(pg_current_snapshot())
             order by f.lane_xid, f.seq limit v_left) y;
    exit when v_line.seen = 0;
    v_head.lane_xid := v_line.lane_xid;
    v_head.lane_seq := v_line.seq;
    -- Who runs below the new head.
    if pg_snapshot_xmin(v_line.snapshot) < v_head.lane_xid then
      select v_head.late_xids || array_agg(r.x), v_head.late_seqs || array_agg(0::bigint) into v_head.late_xids, v_head.late_seqs
        from pg_snapshot_xip(v_line.snapshot) r(x) where r.x < v_head.lane_xid and not r.x = any (v_head.late_xids);
    end if;
    if v_line.job_ids is not null then
      v_left := v_left - cardinality(v_line.job_ids);
      return next (v_line.job_ids, v_line.seq_from, v_line.seq_to, v_line.lines, v_line.tokens)::millrace.stretch;
    end if;
    exit when not v_gaps;
  end loop;

  update millrace.lane_head h
     set claim_no = h.claim_no + 1, lane_xid = v_head.lane_xid, lane_seq = v_head.lane_seq, late_xids = v_head.late_xids, late_seqs = v_head.late_seqs
   where h.lane_id = p_lane_id and h.claim_no = v_head.claim_no;
  if v_gaps then
    -- Gaps that were passed have served; not those of writers that are still to be read.
    delete from millrace.lane_gap g
     where g.lane_id = p_lane_id and (g.lane_xid, g.seq) <= (v_head.lane_xid, v_head.lane_seq)
       and not exists (select from unnest(v_head.late_xids, v_head.late_seqs) k(x, s) where k.x = g.lane_xid and g.seq > k.s);
  end if;
end;
$$;
