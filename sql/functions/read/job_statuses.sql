-- millrace.job_statuses: millrace.job_status of many jobs at once, for requests that came together: a row for each that the caller may see, by its
-- place in the list. What its lane alone knows of a job, which is true of most, is looked up for all of them in one statement, every table by its
-- keys; the others are told one by one. A job that its lane has not reached waits (millrace.lane_waiting); only otherwise is its claim looked for.
create or replace function millrace.job_statuses(p_job_ids uuid[]) returns table (ord integer, brief json)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_person boolean := millrace.caller() = 'authenticated';
  v_user uuid := case when v_person then millrace.current_user_id() end;
begin
  return query
  select u.ord::integer,
         row_to_json(case when s.status is null then millrace.job_brief_of(f.job_id)
                          else row(f.job_id, f.tenant_id, q.queue, t.job_type, f.job_name, s.status, f.stage, null, f.priority, s.attempt,
                                   coalesce(f.max_attempts, t.max_attempts, q.max_attempts), s.attempt, 1, case s.status when 'completed' then 100 else 0 end,
                                   null, null, null, c.worker_id, f.created_at, f.scheduled_at, c.claimed_at, c.finished_at, f.batch_id, f.parent_id,
                                   f.owner_id, f.correlation_id, null, null)::millrace.job_brief end)
    from unnest(p_job_ids) with ordinality u(job_id, ord)
    join millrace.job_fact f on f.job_id = u.job_id
    join millrace.queue q on q.queue_id = f.queue_id
    join millrace.job_type t on t.type_id = f.type_id
    left join lateral (
      select true as waiting
        from (select h.lane_xid, h.lane_seq, h.late_xids, h.late_seqs from millrace.lane_head h
               where h.lane_id = f.lane_id order by h.claim_no desc limit 1) h
       where ((f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq)
              or exists (select from unnest(h.late_xids, h.late_seqs) k(x, s) where k.x = f.lane_xid and f.seq > k.s))
         and not exists (select from millrace.lane_gap g where g.lane_id = f.lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq)
      offset 0) w on true
    left join lateral (
      select c.worker_id, c.claimed_at, o.lease_until,
             case when o.lease_until is null
                  then (select d.at from millrace.claim_done d where d.claim_id = c.claim_id and get_bit(d.done, c.position) = 1 limit 1) end as finished_at
        -- The position is looked for once: the list of a large claim lies outside its row.
        from (select c.claim_id, c.worker_id, c.claimed_at, p.position
                from millrace.claim c cross join lateral (select array_position(c.job_ids, f.job_id) - 1 as position offset 0) p
               where w.waiting is null and f.lane_id is not null and c.claimed_at >= f.created_at - interval '1 day'
                 and c.span @> box(point(f.lane_id, f.seq), point(f.lane_id, f.seq)) and p.position is not null
               limit 1) c
        left join millrace.claim_open o on o.claim_id = c.claim_id and get_bit(o.held, c.position) = 1
      offset 0) c on true
    cross join lateral (
      select case when w.waiting then 'pending' when c.lease_until is not null then 'processing' when c.finished_at is not null then 'completed' end as status,
             case when w.waiting then 0 else 1 end as attempt) s
   where case when v_person then f.tenant_id = v_scope and f.owner_id = v_user else v_scope is null or f.tenant_id = v_scope end;
end;
$$;
