-- Jobs that only their lane knows, one row each: those that wait, those held under a claim, and those completed under one. Each can be
-- entered from the job (by its lane and seq) and from the claim.
create or replace view millrace.lane_waiting with (security_invoker = true) as
select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.lane_id, f.lane_xid, f.seq, f.created_at
  from millrace.lane_head h
  cross join lateral (
    select a.job_id, a.tenant_id, a.queue_id, a.type_id, a.priority, a.lane_id, a.lane_xid, a.seq, a.created_at
      from millrace.job_fact a where a.lane_id = h.lane_id and (a.lane_xid, a.seq) > (h.lane_xid, h.lane_seq)
    union all
    select b.job_id, b.tenant_id, b.queue_id, b.type_id, b.priority, b.lane_id, b.lane_xid, b.seq, b.created_at
      from unnest(h.late_xids, h.late_seqs) k(x, s)
      join millrace.job_fact b on b.lane_id = h.lane_id and b.lane_xid = k.x and b.seq > k.s and (b.lane_xid, b.seq) <= (h.lane_xid, h.lane_seq)) f
 where not exists (select from millrace.lane_gap g where g.lane_id = f.lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq);

create or replace view millrace.lane_held with (security_invoker = true) as
select u.job_id, c.tenant_id, c.queue_id, c.type_id, c.lane_id, c.claim_id, (u.n - 1)::integer as "position", c.worker_id, c.claimed_at, o.lease_until
  from millrace.claim_open o
  join millrace.claim c on c.claim_id = o.claim_id and c.claimed_at = o.claimed_at
  cross join lateral unnest(c.job_ids) with ordinality u(job_id, n)
 where get_bit(o.held, (u.n - 1)::integer) = 1;

create or replace view millrace.lane_done with (security_invoker = true) as
select u.job_id, c.tenant_id, c.queue_id, c.type_id, c.lane_id, c.claim_id, (u.n - 1)::integer as "position", c.worker_id, c.claimed_at, d.at as finished_at
  from millrace.claim_done d
  join millrace.claim c on c.claim_id = d.claim_id and c.claimed_at = d.claimed_at
  cross join lateral unnest(c.job_ids) with ordinality u(job_id, n)
 where get_bit(d.done, (u.n - 1)::integer) = 1;
