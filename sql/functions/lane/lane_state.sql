-- millrace.lane_state: what became of a job that its lane alone knows: 'ready', 'leased' or 'completed', with claim, worker and times.
-- No row for a job that lies elsewhere, or never was in a lane.
create or replace function millrace.lane_state(p_job_id uuid)
  returns table (state text, claim_id uuid, worker_id text, started_at timestamptz, lease_until timestamptz, finished_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select case when d.at is not null then 'completed' when c.claim_id is null then 'ready' else 'leased' end,
         c.claim_id, c.worker_id, c.claimed_at, o.lease_until, d.at
    from millrace.job_fact f
    left join lateral millrace.find_claim(f.lane_id, f.seq, f.job_id, f.created_at) c on true
    left join millrace.claim_open o on o.claim_id = c.claim_id and get_bit(o.held, c.position) = 1
    left join lateral (select x.at from millrace.claim_done x where x.claim_id = c.claim_id and get_bit(x.done, c.position) = 1) d on true
   where f.job_id = p_job_id and f.lane_id is not null
     and (d.at is not null or o.claim_id is not null
          or (c.claim_id is null
              and not exists (select from millrace.lane_gap g where g.lane_id = f.lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq)
              and exists (select from millrace.lane_head h where h.lane_id = f.lane_id
                             and ((f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq)
                                  or exists (select from unnest(h.late_xids, h.late_seqs) k(x, s) where k.x = f.lane_xid and f.seq > k.s)))));
end;
$$;
