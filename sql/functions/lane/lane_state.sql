-- millrace.lane_state: what became of a job that its lane alone knows: 'ready', 'leased' or 'completed', with claim, worker and times.
-- No row for a job that lies elsewhere, or never was in a lane. One look after the other, each by a key: one statement would be planned
-- by the size the tables have, and an open snapshot keeps many more versions than that. All looks see the caller's snapshot.
create or replace function millrace.lane_state(p_job_id uuid)
  returns table (state text, claim_id uuid, worker_id text, started_at timestamptz, lease_until timestamptz, finished_at timestamptz)
  language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp
as $$
declare
  v_fact record;
  v_claim record;
  v_head record;
begin
  select f.lane_id, f.lane_xid, f.seq, f.created_at into v_fact from millrace.job_fact f where f.job_id = p_job_id and f.lane_id is not null;
  if not found then
    return;
  end if;
  select c.claim_id, c.claimed_at, c.worker_id, c.position into v_claim from millrace.find_claim(v_fact.lane_id, v_fact.seq, p_job_id, v_fact.created_at) c;
  if found then
    claim_id := v_claim.claim_id;
    worker_id := v_claim.worker_id;
    started_at := v_claim.claimed_at;
    lease_until := (select o.lease_until from millrace.claim_open o where o.claim_id = v_claim.claim_id and get_bit(o.held, v_claim.position) = 1);
    if lease_until is null then
      finished_at := (select d.at from millrace.claim_done d where d.claim_id = v_claim.claim_id and get_bit(d.done, v_claim.position) = 1 limit 1);
    end if;
    state := case when lease_until is not null then 'leased' when finished_at is not null then 'completed' end;
  elsif not exists (select from millrace.lane_gap g where g.lane_id = v_fact.lane_id and g.lane_xid = v_fact.lane_xid and g.seq = v_fact.seq) then
    select h.lane_xid, h.lane_seq, h.late_xids, h.late_seqs into v_head from millrace.lane_head h where h.lane_id = v_fact.lane_id order by h.claim_no desc limit 1;
    state := case when (v_fact.lane_xid, v_fact.seq) > (v_head.lane_xid, v_head.lane_seq)
                    or exists (select from unnest(v_head.late_xids, v_head.late_seqs) k(x, s) where k.x = v_fact.lane_xid and v_fact.seq > k.s) then 'ready' end;
  end if;
  if state is not null then
    return next;
  end if;
end;
$$;
