-- millrace.read_late: the part of millrace.read_lane for jobs whose producers ended after the head had passed them: up to p_limit of them, and
-- the list of writers that is left: those that still run, and those not read to their end, with the place reached.
create or replace function millrace.read_late(
    p_head millrace.lane_head, p_limit integer, p_gaps boolean, p_costed boolean, p_lines boolean, out jobs millrace.stretch, out xids xid8[], out seqs bigint[])
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_read record;
begin
  with late as materialized (
    select u.x, u.s, pg_visible_in_snapshot(u.x, pg_current_snapshot()) as ended from unnest(p_head.late_xids, p_head.late_seqs) u(x, s)),
  line as materialized (
    select u.x, f.* from late u
      cross join lateral (
        select f.seq, f.job_id, f.payload, f.estimated_tokens, f.job_name, f.correlation_id, f.traceparent, f.pipeline, f.stage, f.parent_id,
               p_gaps and exists (select from millrace.lane_gap g where g.lane_id = f.lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq) as gone
          from millrace.job_fact f where f.lane_id = p_head.lane_id and f.lane_xid = u.x and f.seq > u.s order by f.seq limit p_limit) f
     where u.ended limit p_limit),
  rest as (
    select k.x, coalesce((select max(y.seq) from line y where y.x = k.x), k.s) as s from late k
     where not k.ended or (select count(*) from line) >= p_limit)
  select (select array_agg(r.x order by r.x) from rest r) as xids, (select array_agg(r.s order by r.x) from rest r) as seqs,
         array_agg(y.job_id) as job_ids, min(y.seq) as seq_from, max(y.seq) as seq_to,
         string_agg(millrace.job_line(y.job_id, y.payload, y.job_name, y.correlation_id, y.traceparent, y.pipeline, y.stage, y.parent_id), E'\n') filter (where p_lines) as lines,
         (sum(greatest(y.estimated_tokens, 1)) filter (where p_costed))::bigint as tokens
    into v_read
    from line y where not y.gone;
  jobs := (v_read.job_ids, v_read.seq_from, v_read.seq_to, v_read.lines, v_read.tokens);
  xids := coalesce(v_read.xids, '{}');
  seqs := coalesce(v_read.seqs, '{}');
end;
$$;
