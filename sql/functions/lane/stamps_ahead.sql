-- millrace.stamps_ahead: the lanes that carry transaction ids this server has not given out yet: they came with a restore from another
-- one. New jobs would line up behind ids that are not reached for long, or before a head that has passed them.
create or replace function millrace.stamps_ahead() returns setof integer
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
  select l.lane_id from millrace.lane l
   where exists (select from millrace.lane_head h where h.lane_id = l.lane_id and h.lane_xid >= pg_snapshot_xmax(pg_current_snapshot()))
      or exists (select from millrace.job_fact f where f.lane_id = l.lane_id and f.lane_xid >= pg_snapshot_xmax(pg_current_snapshot())
                     and f.lane_xid is distinct from pg_current_xact_id_if_assigned());
end;
$$;
